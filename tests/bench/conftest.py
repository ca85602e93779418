"""Suite files, and a store of real captures to score with them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanscore.bench.suites import Suite, load_suite
from spanscore.otlp import read_paths
from spanscore.store import Store

# Test modules are imported by path; this lets them import the module beside them.
sys.path.insert(0, str(Path(__file__).parent))

CORPUS = Path(__file__).parents[1] / "corpus"
CAPTURES = (
    "langgraph-genai/one_tool.jsonl",
    "langgraph-genai/tool_retry.jsonl",
    "openai-genai/one_tool.jsonl",
    "langgraph-genai/restraint.jsonl",
)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Suite]:
    """Loads a suite from its text."""

    def from_text(text: str | bytes, name: str = "suite.yaml") -> Suite:
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return load_suite(path)

    return from_text


@pytest.fixture
def captured(captures: Path, tmp_path: Path) -> Any:
    """The store of captures, open for writing; for this test alone."""
    import shutil

    with Store.open(Path(shutil.copytree(captures, tmp_path / "store"))) as opened:
        yield opened


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of `CAPTURES`; for reading only."""
    directory = tmp_path_factory.mktemp("captures") / "store"
    with Store.open(directory) as opened:
        for chunk in read_paths([CORPUS / capture for capture in CAPTURES]):
            opened.load(chunk.tables, source="tests")
        opened.derive()
    return directory
