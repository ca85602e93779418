"""A new evaluator and its first case, ready to be changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spanscore.errors import UsageError
from spanscore.evaluate.catalogue import OWN_FOLDER, own_files
from spanscore.evaluate.header import SUBJECT_COLUMNS
from spanscore.store.queries import queries_root

_TABLES = {
    "run": "runs",
    "agent_invocation": "agent_invocations",
    "llm_call": "llm_calls",
    "tool_call": "tool_calls",
    "handoff": "handoffs",
    "session": "runs",
}

_EVALUATOR = """\
-- /// evaluator
-- id = "{id}"
{overrides}-- title = "{title}"
-- grain = "{grain}"
-- unit = "{unit}"
-- better = "lower"
--
-- [params.most]
-- type = "BIGINT"
-- unit = "calls"
-- default = 10
-- doc = "More than this many is too many."
-- ///
--
-- What counts, what does not, what NULL means, and when not to trust it.
{select}"""

_OF_RUN = """\
select
    run_id,
    case when tool_calls > 0 then (tool_calls > $most)::integer::double end as score_value,
    case when tool_calls > 0 then null else 'no_tool_calls' end as not_applicable_reason,
    format('{}.', things(tool_calls, 'tool call')) as explanation
from runs;
"""
_OF_SESSION = """\
select
    session_id,
    case when sum(tool_calls) > 0 then (sum(tool_calls) > $most)::integer::double end as score_value,
    case when sum(tool_calls) > 0 then null else 'no_tool_calls' end as not_applicable_reason,
    format('{}.', things(sum(tool_calls), 'tool call')) as explanation
from runs
where session_id is not null
group by session_id;
"""
_OF_CALL = """\
select
    run_id,
    {key},
    case when duration_s is not null then (duration_s > $most)::integer::double end as score_value,
    case when duration_s is null then 'unfinished' end as not_applicable_reason,
    agent_name
from {table};
"""
_OF_HANDOFF = """\
select
    run_id,
    handoff_id,
    case when seq is not null then (seq > $most)::integer::double end as score_value,
    case when seq is null then 'no_order' end as not_applicable_reason,
    from_agent as agent_name
from handoffs;
"""

_CASE = """\
why = "More than the limit is 1, the limit itself is 0, and where there is nothing to say the evaluator does not apply."
params = {{ most = 2 }}
{given}
expect = [
{expect}]
"""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The files that were written."""

    evaluator: Path
    case: Path


def write_skeleton(name: str, *, folder: Path, grain: str, overrides: bool = False) -> Skeleton:
    """Write an evaluator `name` and one case into `folder`.

    Args:
        name: the id; the file is called by it.
        folder: made when it is missing.
        grain: what it scores.
        overrides: whether it takes the place of an evaluator of that id.

    Raises:
        UsageError: the name or grain is none, a file is there already, another evaluator has the id and `overrides`
            does not say that it shall be replaced, or none has and it does.
    """
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) is None:
        raise UsageError(f"`{name}` is no id: use lower-case letters, digits and `_`, such as `slow_answers`.")
    if grain not in SUBJECT_COLUMNS:
        raise UsageError(f"`{grain}` is no grain.\n  It is one of: {', '.join(SUBJECT_COLUMNS)}.")
    skeleton = Skeleton(folder / f"{name}.sql", folder / name / "more_than_the_limit.toml")
    for path in (skeleton.evaluator, skeleton.case):
        if path.exists():
            raise UsageError(f"`{path}` is there already.\n  Choose another id, or move the file away.")
    other = _file_of(name)
    if other is not None and not overrides:
        raise UsageError(
            f"There is an evaluator `{name}` already: `{other}`. Two of one id stop every evaluation.\n"
            "  Choose another id, or write one that takes its place with --override."
        )
    if other is None and overrides:
        raise UsageError(f"There is no evaluator `{name}` to override.\n  Leave --override out.")
    try:
        skeleton.case.parent.mkdir(parents=True, exist_ok=True)
        skeleton.evaluator.write_text(_evaluator(name, grain, overrides=overrides), encoding="utf-8")
        skeleton.case.write_text(_case(grain), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be written: {error.strerror}.\n  Name another --folder.") from error
    return skeleton


def _file_of(name: str) -> Path | None:
    """The file of the evaluator `name` that comes with spanscore, or of one that the user has in `./evals`."""
    files = [*(queries_root() / "evaluators").glob("*/*.sql"), *(path for path, _ in own_files([Path(OWN_FOLDER)]))]
    return next((path for path in files if path.stem == name), None)


def _evaluator(name: str, grain: str, *, overrides: bool) -> str:
    title = name.replace("_", " ").capitalize()
    if grain == "run":
        select = _OF_RUN
    elif grain == "session":
        select = _OF_SESSION
    elif grain == "handoff":
        select = _OF_HANDOFF
    else:
        select = _OF_CALL.format(key=SUBJECT_COLUMNS[grain], table=_TABLES[grain])
    header = f'-- overrides = "{name}"\n' if overrides else ""
    return _EVALUATOR.format(id=name, overrides=header, title=title, grain=grain, unit="boolean", select=select)


def _case(grain: str) -> str:
    key, table = SUBJECT_COLUMNS[grain], _TABLES[grain]
    measured = {"run": "tool_calls", "session": "tool_calls", "handoff": "seq"}.get(grain, "duration_s")
    reason = {"run": "no_tool_calls", "session": "no_tool_calls", "handoff": "no_order"}.get(grain, "unfinished")
    subjects: list[tuple[str, int | None, str]] = [
        ("many", 3, "score_value = 1"),
        ("few", 2, "score_value = 0"),
        ("none", None, f'not_applicable_reason = "{reason}"'),
    ]
    run = 'run_id = "r1", '
    given, expect = [], []
    for subject, value, expected in subjects:
        first = "" if grain == "run" else (f'run_id = "run_{subject}", ' if grain == "session" else run)
        figure = "" if value is None else f", {measured} = {value}"
        given.append(f'  {{ {first}{key} = "{subject}"{figure} }},\n')
        expect.append(f'  {{ {key} = "{subject}", {expected} }},\n')
    rows = f"given.{table} = [\n{''.join(given)}]"
    if table != "runs":
        rows = f'given.runs = [{{ run_id = "r1" }}]\n{rows}'
    return _CASE.format(given=rows, expect="".join(expect))
