"""Progress bars: on standard error, only on a terminal, gone when done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spanscore.report.terminal import error_console


@dataclass(frozen=True, slots=True)
class Bars:
    """What the work calls as it goes on."""

    bytes: Callable[[int], None]
    traces: Callable[[int, int], None]


@contextmanager
def progress(*, reading: bool = False, total_bytes: int | None = None) -> Iterator[Bars]:
    """Bars for `reading` files of `total_bytes` [bytes] (None: unknown), if there are any, and for deriving traces.

    Yields:
        callables: how many more bytes have been read; (traces done, traces in all).
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out = error_console()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=not out.is_terminal,
    ) as bars:
        files = bars.add_task("reading files", total=total_bytes, visible=reading)
        deriving = bars.add_task("rebuilding trajectories", total=None, visible=False)

        def read(n_bytes: int) -> None:
            bars.update(files, advance=n_bytes)

        def derived(done: int, total: int) -> None:
            bars.update(deriving, completed=done, total=total, visible=True)

        yield Bars(read, derived)


@contextmanager
def counting(description: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for work that is counted in steps.

    Yields:
        a callable: (steps done, steps in all).
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out = error_console()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}", markup=False),
        TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=not out.is_terminal,
    ) as bars:
        task = bars.add_task(description, total=None)

        def done(steps: int, total: int) -> None:
            bars.update(task, completed=steps, total=total)

        yield done


@contextmanager
def reading(description: str, *, visible: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar for bytes that are read, with their rate; only where it is `visible`.

    Yields:
        a callable: (bytes done, bytes in all).
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    out = error_console()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=not (visible and out.is_terminal),
    ) as bars:
        task = bars.add_task(description, total=None)

        def done(n_bytes: int, total: int) -> None:
            bars.update(task, completed=n_bytes, total=total)

        yield done
