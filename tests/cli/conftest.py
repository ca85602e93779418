"""A store made once from a few real captures."""

import sys
from pathlib import Path

import pytest

# Test modules are imported by path; this lets them import the module beside them.
sys.path.insert(0, str(Path(__file__).parent))

from commands import CAPTURES, CORPUS, run


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of `CAPTURES`; for reading only."""
    directory = tmp_path_factory.mktemp("cli") / "store"
    loaded = run("ingest", *(CORPUS / capture for capture in CAPTURES), "--store", directory)
    assert loaded.code == 0, loaded.err
    return directory
