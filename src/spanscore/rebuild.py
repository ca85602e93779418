"""All trajectories of a store derived anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def rebuild_store(directory: Path, *, on_traces: Callable[[int, int], None] | None = None) -> int:
    """Derive every trace of the store again, and return how many there are [count].

    Args:
        directory: of the store.
        on_traces: told (traces done, traces in all).

    Raises:
        StoreMissing: there is no store.
    """
    from spanscore.store import Store, require_store

    require_store(directory)
    with Store.open(directory) as store:
        return store.rebuild(on_traces)
