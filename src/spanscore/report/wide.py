"""A table that may be wider than the console it is printed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class WideTable(Table):
    """A table that takes the room that it needs, where rich would cut ids and figures to make it fit.

    Args:
        needed: width that its columns need [columns]; 0 = what there is.
    """

    def __init__(self, *, needed: int, **options: Any) -> None:
        super().__init__(**options)
        self._needed = needed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders it as wide as it must be."""
        yield from super().__rich_console__(console, options.update(max_width=max(options.max_width, self._needed)))
