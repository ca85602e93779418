"""Stores made once from captures."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

# Test modules are imported by path; this lets them import the modules beside them.
sys.path.insert(0, str(Path(__file__).parent))

from passes import catalogue
from telemetry import load, pieces

from spanscore.evaluate import Catalogue


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of a few captures, never scored; for copying."""
    directory = tmp_path_factory.mktemp("captured") / "store"
    load(directory, pieces())
    return directory


@pytest.fixture
def store(tmp_path: Path, captured: Path) -> Path:
    """A store with the runs of a few captures, never scored."""
    return Path(shutil.copytree(captured, tmp_path / "store"))


@pytest.fixture(scope="session")
def evaluators(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """An evaluator of every grain."""
    return catalogue(tmp_path_factory.mktemp("evaluators"), ("agent_success", "llm_error_rate", "run_error", "own"))


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """More evaluators, some of which take their time."""
    return catalogue(tmp_path_factory.mktemp("many"))


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """Two evaluators that take next to no time."""
    return catalogue(tmp_path_factory.mktemp("few"), ("run_error", "tool_error_rate"))
