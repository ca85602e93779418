"""Where evaluators are found, and which one wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanscore.errors import EvaluatorInvalid, UsageError
from spanscore.evaluate import find_evaluators
from spanscore.evaluate.params import read_params

PARAMETER = '\n[params.most]\ntype = "BIGINT"\ndefault = 3\ndoc = "The most."\n'
USES_MOST = "select run_id, $most as score_value from runs"


def own(folder: Path, *selection: str) -> list[str]:
    return [one.id for one in find_evaluators(folder, selection=selection).evaluators if not one.is_shipped]


def test_evaluators_of_the_folder_stand_behind_those_that_ship(write: Any, tmp_path: Path) -> None:
    write("my_rate")
    found = find_evaluators(tmp_path).evaluators

    assert found[-1].id == "my_rate"
    assert {"tool_error_rate", "steps"} <= {one.id for one in found if one.is_shipped}


def test_folders_of_the_settings_are_searched(write: Any, tmp_path: Path) -> None:
    write("my_rate", folder="elsewhere")
    (tmp_path / "spanscore.toml").write_text('[evaluators]\npaths = ["elsewhere"]\n')

    assert own(tmp_path) == ["my_rate"]


def test_a_file_reached_by_two_ways_is_one_evaluator(write: Any, tmp_path: Path) -> None:
    path = write("my_rate")
    (tmp_path / "spanscore.toml").write_text('[evaluators]\npaths = ["evals"]\n')

    assert own(tmp_path, str(path), str(path.parent)) == ["my_rate"]


def test_an_id_in_two_files_is_an_error_that_names_both(write: Any, tmp_path: Path) -> None:
    write("steps")

    with pytest.raises(UsageError, match=r"(?s)`steps` stands in two files: .*efficiency/steps\.sql.*evals/steps\.sql"):
        find_evaluators(tmp_path)


def test_an_evaluator_that_says_so_takes_the_place_of_another(write: Any, tmp_path: Path) -> None:
    path = write("steps", overrides='"steps"')
    found = [one for one in find_evaluators(tmp_path).evaluators if one.id == "steps"]

    assert [one.path for one in found] == [path]


def test_ids_questions_files_and_folders_select(write: Any, tmp_path: Path) -> None:
    first, second = write("first"), write("second", folder="other")

    assert [one.id for one in find_evaluators(tmp_path, selection=["steps"]).evaluators] == ["steps"]
    assert own(tmp_path, "first") == ["first"]
    assert own(tmp_path, str(second)) == ["second"]
    assert own(tmp_path, str(first.parent), str(second)) == ["first", "second"]
    assert {one.question for one in find_evaluators(tmp_path, selection=["tools"]).evaluators} == {"tools"}


@pytest.mark.parametrize("word", ["nothing", "./nowhere", "nowhere.sql"])
def test_what_does_not_exist_is_named(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match=word.removeprefix("./")):
        find_evaluators(tmp_path, selection=[word])


def test_a_broken_file_is_kept_beside_the_good_ones(write: Any, tmp_path: Path) -> None:
    write("good")
    write("bad", grain='"day"')
    catalogue = find_evaluators(tmp_path)

    assert [one.id for one in catalogue.broken] == ["bad"]
    assert own(tmp_path) == ["good"]
    with pytest.raises(EvaluatorInvalid, match="grain `day`"):
        catalogue.named("bad")


def test_the_command_line_wins_over_the_settings_and_these_over_the_default(write: Any, tmp_path: Path) -> None:
    write("one", USES_MOST, more=PARAMETER)
    write("two", USES_MOST, more=PARAMETER)
    write("three", USES_MOST, more=PARAMETER)
    (tmp_path / "spanscore.toml").write_text(
        "[evaluators.one]\nparams = { most = 5 }\n[evaluators.two]\nparams = { most = 5 }\n"
    )
    catalogue = find_evaluators(tmp_path)
    values = catalogue.bound(read_params(["one.most=7"], catalogue))

    assert [values[name]["most"] for name in ("one", "two", "three")] == [7, 5, 3]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("[evaluators", "cannot be read"),
        ("evaluators = 1", "must be a table"),
        ("[evaluators]\npaths = 'evals'", "must be a list"),
        ("[evaluators]\npaths = ['nowhere']", "does not exist"),
        ("[evaluators.nothing]\nparams = {}", "no such evaluator"),
        ("[evaluators.number_grounded]\nparams = {}", "Did you mean `numbers_grounded`"),
        ("[evaluators]\npath = ['evals']", r":2: .*\n  Did you mean `paths`"),
        (
            "[evaluators.steps]\nparam = {}",
            r":2: `param` is no setting of \[evaluators.steps\].\n  Did you mean `params`",
        ),
        ("[evaluators.steps]\ngate = {}", "`gate` is no setting"),
        ("[evaluators.numbers_grounded]\nparams = { strickt = true }", r"spanscore.toml:2: .*no parameter `strickt`"),
        ("[evaluators.numbers_grounded]\nparams = { strict = 3 }", "spanscore.toml:2: .* is a BOOLEAN"),
        ("[evaluators]\nsteps.param = {}", ":2: `param` is no setting"),
    ],
)
def test_a_mistake_in_the_settings_is_named(tmp_path: Path, settings: str, expected: str) -> None:
    (tmp_path / "spanscore.toml").write_text(settings)

    with pytest.raises(UsageError, match=expected):
        find_evaluators(tmp_path)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("most=3", "no `id.name=value`"),
        ("one.most", "no `id.name=value`"),
        ("one.least=3", "no parameter `least`"),
        ("none.most=3", "no evaluator `none`"),
        ("one.most=many", "`many` is no BIGINT"),
        ("one.most=1.5", "`1.5` is no BIGINT"),
    ],
)
def test_a_mistake_in_a_parameter_is_named(write: Any, tmp_path: Path, word: str, expected: str) -> None:
    write("one", USES_MOST, more=PARAMETER)

    with pytest.raises(UsageError, match=expected):
        read_params([word], find_evaluators(tmp_path))


def test_parameters_are_read_as_their_type(write: Any, tmp_path: Path) -> None:
    kinds = {"a": "BIGINT", "b": "DOUBLE", "c": "BOOLEAN", "d": "VARCHAR"}
    more = "".join(f'\n[params.{name}]\ntype = "{kind}"\ndoc = ""' for name, kind in kinds.items())
    write("one", "select run_id, 1 as score_value from runs where $a = $b and $c and $d = ''", more=more)
    catalogue = find_evaluators(tmp_path)
    read = read_params(["one.a=3", "one.b=3", "one.c=false", "one.d=a=b"], catalogue)

    assert read == {"one": {"a": 3, "b": 3.0, "c": False, "d": "a=b"}}
    assert isinstance(read["one"]["b"], float)
