"""A collector in a process of its own, so that its memory can be measured."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Test modules are imported by path; this lets them import the modules beside them.
for _folder in (Path(__file__).parent, Path(__file__).parents[1]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

from otlp_clients import CollectorProcess, collector_process  # noqa: E402


@pytest.fixture(scope="session")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CollectorProcess]:
    """`spanscore collect` with its default limits."""
    with collector_process(tmp_path_factory.mktemp("hostile") / "store") as server:
        yield server
        assert server.process.poll() is None, "the collector has died"
