"""Where the SQL lives: the `queries/` folder, inside the installed wheel or at the root of a source checkout."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def queries_root() -> Path:
    """The folder that holds `macros/`, `conventions/`, `trajectory/` and the rest."""
    packaged = _PACKAGE / "queries"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "queries"


def query_path(name: str) -> Path:
    """The file `name` (for example `trajectory/runs.sql`) of the queries folder."""
    return queries_root() / name


@cache
def read_query(name: str) -> str:
    """The text of the SQL file `name`."""
    return query_path(name).read_text(encoding="utf-8")
