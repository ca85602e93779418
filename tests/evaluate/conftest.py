"""Evaluator files made from a few words, and stores whose trajectory rows are written by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store import Store
from spanscore.store.evaluation import EvaluationSession, empty_store

WriteEvaluator = Callable[..., Path]

CONSTANT = "select run_id, 1.0 as score_value from runs"


@pytest.fixture(scope="session")
def empty() -> Iterator[EvaluationSession]:
    """A store in memory with every table and no row."""
    with empty_store(macros=EVALUATOR_MACROS, timeout_s=10) as session:
        yield session


@pytest.fixture
def write(tmp_path: Path) -> WriteEvaluator:
    """Writes `evals/<name>.sql` with this SELECT; header lines can be replaced or added."""

    def write_file(name: str, select: str = CONSTANT, *, folder: str = "evals", more: str = "", **keys: str) -> Path:
        header = {
            "id": f'"{name}"',
            "title": '"A title"',
            "grain": '"run"',
            "unit": '"count"',
            "better": '"higher"',
            **keys,
        }
        lines = ["/// evaluator", *(f"{key} = {value}" for key, value in header.items() if value), *more.splitlines()]
        path = tmp_path / folder / f"{name}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"-- {line}\n" for line in (*lines, "///")) + select + "\n", encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def store(tmp_path: Path, template: Path) -> Path:
    """A store with three runs: two of production in one session, and one attempt at a case."""
    return Path(shutil.copytree(template, tmp_path / "store"))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `store` is copied from: making one takes longer."""
    directory = tmp_path_factory.mktemp("template") / "store"
    with Store.open(directory) as opened:
        opened.connection.execute(
            """
            insert into runs (
                run_id, trace_id, source, session_id, service_name, experiment_id, suite_name, case_id, started_at,
                question, fingerprint, tool_calls
            ) values
                ('aa1', 'aa1', 'production', 's1', 'shop', null, null, null, '2026-01-01', 'What?', 'f1', 1),
                ('aa2', 'aa2', 'production', 's1', 'desk', null, null, null, '2026-01-02', 'How  MUCH is it?', 'f2', 0),
                ('bb1', 'bb1', 'benchmark', null, 'shop', 'e1', 'suite', 'c1', '2026-01-03', 'Why?', 'f3', 1);
            insert into tool_calls (tool_call_id, run_id, trace_id, tool_name, agent_name) values
                ('t1', 'aa1', 'aa1', 'search', 'helper'), ('t1', 'bb1', 'bb1', 'search', 'helper');
            insert into spans (trace_id, span_id, name) values ('aa1', '01', 'chat'), ('bb1', '02', 'chat');
            """
        )
    return directory
