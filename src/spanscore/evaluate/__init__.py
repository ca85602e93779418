"""Evaluators: SQL files that score runs. Reads them, checks them, runs them, keeps what they say."""

from spanscore.evaluate.catalogue import Catalogue, find_evaluators
from spanscore.evaluate.header import Evaluator, Parameter, read_evaluator
from spanscore.evaluate.run import Evaluation, Result, evaluate_store, store_evaluation

__all__ = [
    "Catalogue",
    "Evaluation",
    "Evaluator",
    "Parameter",
    "Result",
    "evaluate_store",
    "find_evaluators",
    "read_evaluator",
    "store_evaluation",
]
