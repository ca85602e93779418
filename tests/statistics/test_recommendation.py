"""Models by weighted score: the published table, whose own numbers name the winner."""

import pytest
from published import MODEL_SCORES, MODELS

from spanscore.statistics import PROFILES, ModelFigures, pareto_front, ranking

FIGURES = {name: ModelFigures(*values) for name, values in MODELS.items()}


@pytest.mark.parametrize("profile", MODEL_SCORES)
def test_the_published_scores_and_their_winner(profile):
    ranked = ranking(FIGURES, PROFILES[profile])

    # The published accuracies are rounded to three digits, so the last of four may differ.
    assert dict(ranked) == pytest.approx(MODEL_SCORES[profile], abs=1.1e-4)
    assert ranked[0][0] == "gpt-4.1-mini"


def test_the_front_holds_all_three_and_not_what_is_beaten_in_everything():
    worse = ModelFigures(completion=0.7, accuracy=0.8, latency_s=4.0, cost_usd=0.01)

    assert pareto_front({**FIGURES, "worse": worse}) == list(FIGURES)
    assert pareto_front({"a": worse, "b": worse}) == ["a", "b"]


def test_slow_and_dear_score_nothing_and_not_less():
    ranked = ranking({"x": ModelFigures(0.0, 0.0, 60.0, 9.0)}, PROFILES["balanced"])

    assert ranked == [("x", 0.0)]
