"""What every command shares: how it ends. A known error is a message; an unknown one a traceback and a request."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from spanscore.cli.options import STORE_KEY
from spanscore.errors import SpanscoreError

EXIT_INTERNAL_ERROR = 4
# 128 + SIGPIPE, what a program gets that does not catch the signal: a closed pipe is neither success nor a failed gate.
EXIT_PIPE_CLOSED = 141
# Of an output that is open already: opening a file names it.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
# As for everything that is not known in the end.
EXIT_NOT_WRITTEN = 3
_REPORT_LINE = (
    "This is a bug in spanscore. Please report it with the lines above, the command, and `spanscore --version`;\n"
    "leave out anything of your traces that is private."
)

# The base of typer's own usage errors has no public name.
_USAGE_ERROR: type[BaseException] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


class Root(TyperGroup):
    """The top-level command group: turns every ending into the exit code that belongs to it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors become a message on standard error and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence_stdout()
            raise typer.Exit(EXIT_PIPE_CLOSED) from None
        except SpanscoreError as error:
            _say(f"spanscore: {error}")
            raise typer.Exit(error.exit_code) from None
        except (typer.Exit, typer.Abort, _USAGE_ERROR):
            raise
        except Exception as error:  # noqa: BLE001 the last line of defence: the user learns what to do with whatever it is
            if _is_interrupt(error):
                raise KeyboardInterrupt from None
            if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
                _silence_stdout()
                _say(f"spanscore: The output could not be written: {error.strerror}.\n  Make room, or write elsewhere.")
                raise typer.Exit(EXIT_NOT_WRITTEN) from None
            damage = _damage(error, ctx.meta.get(STORE_KEY))
            if damage is not None:
                _say(f"spanscore: {damage}")
                raise typer.Exit(damage.exit_code) from None
            _say(traceback.format_exc() + _REPORT_LINE)
            raise typer.Exit(EXIT_INTERNAL_ERROR) from None
        return result


def _is_interrupt(error: Exception) -> bool:
    """Whether Ctrl-C came while DuckDB worked: it gives this in place of a KeyboardInterrupt."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def _damage(error: Exception, store: Path | None) -> SpanscoreError | None:
    if "duckdb" not in sys.modules:
        return None
    from spanscore.store.connection import damage_in

    return damage_in(error, store)


def _say(text: str) -> None:
    from spanscore.report.terminal import safe_text

    typer.echo(safe_text(text, keep_lines=True), err=True)


def _silence_stdout() -> None:
    """Send what is still buffered nowhere, or the interpreter complains about the closed pipe when it exits."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
