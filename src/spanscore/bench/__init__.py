"""Benchmarks: suites of cases, and the harness that runs an agent on them."""
