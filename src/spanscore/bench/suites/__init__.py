"""Suites: what they are made of, how their files are read and written, and where else they can come from."""

from spanscore.bench.suites.load import load_suite
from spanscore.bench.suites.model import Case, Defaults, ExpectedCall, Fault, Suite, Threshold, suite_schema

__all__ = ["Case", "Defaults", "ExpectedCall", "Fault", "Suite", "Threshold", "load_suite", "suite_schema"]
