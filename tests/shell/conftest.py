"""A store to ask, and a terminal to ask it from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spanscore.store import Store

if TYPE_CHECKING:
    from pseudo_terminal import Terminal

# Test modules are imported by path; this lets them import the modules beside them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("shell") / "store"
    with Store.open(directory) as opened:
        opened.connection.execute("insert into runs (run_id, status) values ('r1', 'ok'), ('r2', 'error')")
    return directory


@pytest.fixture
def terminal(store: Path, tmp_path: Path) -> Iterator[Terminal]:
    pytest.importorskip("pexpect")
    from pseudo_terminal import Terminal

    opened = Terminal(store, tmp_path)
    opened.listen()
    yield opened
    opened.child.close(force=True)
