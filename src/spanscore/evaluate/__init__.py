"""Evaluators: SQL files that score runs. Reads them, checks them, runs them, keeps what they say.

What this names is imported when it is asked for: finding the macros that a query calls needs no DuckDB.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanscore.evaluate.catalogue import Catalogue, find_evaluators
    from spanscore.evaluate.header import Evaluator, Parameter, read_evaluator
    from spanscore.evaluate.run import Evaluation, Result, canonical, evaluate_store, evaluated_table, store_evaluation

__all__ = [
    "Catalogue",
    "Evaluation",
    "Evaluator",
    "Parameter",
    "Result",
    "canonical",
    "evaluate_store",
    "evaluated_table",
    "find_evaluators",
    "read_evaluator",
    "store_evaluation",
]

_HOMES = {
    "catalogue": ("Catalogue", "find_evaluators"),
    "header": ("Evaluator", "Parameter", "read_evaluator"),
    "run": ("Evaluation", "Result", "canonical", "evaluate_store", "evaluated_table", "store_evaluation"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
