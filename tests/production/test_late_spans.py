"""Whatever arrives when, in whatever batches, with passes in between: the scores end as those of one clean pass.

An example of the exhaustive tests takes 3 to 16 s on a machine that is busy with other things: there are as many as end
in eight minutes.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from passes import job, one_pass, query, scores
from telemetry import Request, load, merged, pieces

from spanscore.evaluate import Catalogue, find_evaluators

PIECES = pieces()
# A trace for each call that turn out to be one run, content in logs, and turns of one session.
FEW_PIECES = pieces(("openai-otelv2legacy/one_tool", "pydanticai-v5/session"))
_CLEAN: dict[tuple[int, tuple[str, ...]], list[tuple[Any, ...]]] = {}


def clean(captured: list[Request], evaluators: Catalogue) -> list[tuple[Any, ...]]:
    """The scores of a store that got everything at once and was scored once."""
    key = len(captured), tuple(one.id for one in evaluators.evaluators)
    if key not in _CLEAN:
        with TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            load(store, captured)
            one_pass(job(store, evaluators))
            _CLEAN[key] = scores(store)
    assert len(_CLEAN[key]) > 10
    return _CLEAN[key]


def check(
    data: st.DataObject, captured: list[Request], evaluators: Catalogue, *, most_batches: int, batch: int
) -> None:
    order = data.draw(st.permutations(range(len(captured))))
    cuts = data.draw(st.sets(st.integers(1, len(captured) - 1), max_size=most_batches - 1))
    arriving = merged([captured[index] for index in order], cuts)
    scored_after = data.draw(st.sets(st.integers(0, len(arriving) - 1)))
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        for index, requests in enumerate(arriving):
            load(store, requests)
            if index in scored_after:
                one_pass(job(store, evaluators, batch=batch))
        one_pass(job(store, evaluators, batch=batch))

        assert scores(store) == clean(captured, evaluators)
        assert query(store, "select count(*) from scored_subjects where kind = 'run'") == query(
            store, "select count(*) from runs where source = 'production'"
        )
        again = one_pass(job(store, evaluators))
        assert (again.scored.done, again.scored.written) == (0, 0)


@pytest.mark.slow
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_any_order_any_split_and_passes_in_between_end_as_one_clean_pass(
    data: st.DataObject, evaluators: Catalogue
) -> None:
    check(data, FEW_PIECES, evaluators, most_batches=2, batch=500)


@pytest.mark.exhaustive
@settings(max_examples=48, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_orders_and_splits_end_as_one_clean_pass(data: st.DataObject, many: Catalogue) -> None:
    check(data, PIECES, many, most_batches=6, batch=data.draw(st.sampled_from((1, 3, 500))))


@pytest.mark.exhaustive
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_whole_catalogue_ends_as_one_clean_pass(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(data, PIECES, find_evaluators(tmp_path_factory.mktemp("none")), most_batches=4, batch=500)


def test_a_pass_gives_what_evaluate_gives(store: Path, few: Catalogue, tmp_path: Path) -> None:
    from spanscore.evaluate import evaluate_store, store_evaluation
    from spanscore.store.evaluation import Scope

    one_pass(job(store, few, batch=3))
    found = scores(store)
    again = store_evaluation(store, evaluate_store(store, few, scope=Scope(source="production")))

    assert (again.written, again.removed) == (0, 0)
    assert scores(store) == found
