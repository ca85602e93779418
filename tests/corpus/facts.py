"""What a capture's truth says, beside what spanscore derived from the capture.

Each capture is NAME.jsonl[.gz] (and NAME.logs.jsonl[.gz]) with NAME.truth.json, what the program really did: taken from
the scripted model server and the tools themselves, never from the spans. A fact is `right`, `wrong` (a value that is
not the truth) or `missing` (NULL, no row). Wrong is worse than missing.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Capture:
    """One captured scenario of one framework with one instrumentation."""

    folder: str
    name: str
    files: tuple[Path, ...]
    truth: dict[str, Any]

    @property
    def key(self) -> str:
        return f"{self.folder}/{self.name}"

    def trace_ids(self) -> set[str]:
        found: set[str] = set()
        for path in self.files:
            raw = path.read_bytes()
            text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
            found.update(word.lower() for word in re.findall(r'"traceId"\s*:\s*"([0-9a-fA-F]{32})"', text))
        return found


def captures(root: Path = HERE) -> list[Capture]:
    """Every capture below `root` that has a truth."""
    found = []
    for truth in sorted(root.glob("*/*.truth.json")):
        name = truth.name.removesuffix(".truth.json")
        endings = (".jsonl", ".jsonl.gz", ".logs.jsonl", ".logs.jsonl.gz")
        files = tuple(path for ending in endings if (path := truth.with_name(name + ending)).exists())
        if files:
            found.append(Capture(truth.parent.name, name, files, json.loads(truth.read_text(encoding="utf-8"))))
    return found


@dataclass(frozen=True)
class Derived:
    """The rows of the trajectory tables, by trace."""

    runs: dict[str, Rows]
    llm_calls: dict[str, Rows]
    tool_calls: dict[str, Rows]
    agents: dict[str, Rows]
    handoffs: dict[str, Rows]

    def of(self, table: str, traces: set[str]) -> Rows:
        rows = [row for trace in traces for row in getattr(self, table).get(trace, [])]
        return sorted(rows, key=lambda row: (str(row["moment"] or ""), row["seq"]))


QUERIES = {
    "runs": "select *, started_at::varchar as moment, 0 as seq from runs",
    "llm_calls": "select *, started_at::varchar as moment from llm_calls",
    "tool_calls": "select * replace (arguments::varchar as arguments), started_at::varchar as moment from tool_calls"
    " where not is_handoff and not is_agent_tool",
    "agents": "select *, started_at::varchar as moment from agent_invocations",
    "handoffs": 'select *, "at"::varchar as moment from handoffs',
}


def derived(connection: Any) -> Derived:
    """Reads the trajectory tables from a connection to a store; rows go to the trace of their run."""
    tables: dict[str, dict[str, Rows]] = {}
    owner: dict[str, str] = {}
    for name, query in QUERIES.items():
        cursor = connection.execute(query)
        columns = [column[0] for column in cursor.description]
        grouped: dict[str, Rows] = defaultdict(list)
        for values in cursor.fetchall():
            row = dict(zip(columns, values, strict=True))
            if name == "runs":
                owner[row["run_id"]] = row["trace_id"]
            grouped[owner[row["run_id"]]].append(row)
        tables[name] = grouped
    return Derived(**tables)


def facts(capture: Capture, rows: Derived) -> dict[str, tuple[str, Any, Any]]:
    """Each fact that the truth states: (verdict, derived value, true value)."""
    truth = capture.truth
    traces = capture.trace_ids()
    runs, tools = rows.of("runs", traces), rows.of("tool_calls", traces)
    last = runs[-1] if runs else {}
    aliases = {str(k).lower(): str(v).lower() for k, v in (truth.get("script_agent_to_name") or {}).items()}
    out: dict[str, tuple[str, Any, Any]] = {}

    def agent(name: Any) -> Any:
        return None if name is None else aliases.get(str(name).lower(), str(name).lower())

    def state(fact: str, actual: Any, wanted: Any, same: bool | None = None) -> None:
        if wanted is None:
            return
        same = actual == wanted if same is None else same
        unsaid = actual is None or actual == [] or actual == ""
        verdict = "right" if same else "missing" if unsaid and wanted not in ([], 0, "", False) else "wrong"
        out[fact] = (verdict, actual, wanted)

    state("runs", len(runs), truth.get("runs") if isinstance(truth.get("runs"), int) else len(truth["turns"]))
    state("question", _text(last.get("question")), _text(truth["turns"][-1]["input"]) if truth["turns"] else None)
    state("final answer", _text(last.get("final_answer")), _text(truth["final_answer"]) or None)
    failed = bool(truth["ended_in_error"])
    ends = ("error", "truncated", "incomplete", "cancelled") if failed else ("ok", "truncated", "paused")
    state("ended in error", last.get("status"), failed, last.get("status") in ends)
    succeeded = [call for call in rows.of("llm_calls", traces) if call["status"] == "ok"]
    state("successful LLM calls", len(succeeded), truth["llm_calls"]["succeeded"])
    for column, key in (
        ("input_tokens", "input"),
        ("output_tokens", "output"),
        ("cache_read_tokens", "cached"),
        ("reasoning_tokens", "reasoning"),
    ):
        known = [run[column] for run in runs if run[column] is not None]
        state(column, sum(known) if known else None, truth["usage_total"][key])
    wanted_tools = truth["tool_calls"]
    plain = {call["model_tool_name"]: call["name"] for call in wanted_tools if call.get("model_tool_name")}
    for call in tools:
        call["tool_name"] = plain.get(call["tool_name"], call["tool_name"])
    state("tool names", sorted(t["tool_name"] or "" for t in tools), sorted(t["name"] for t in wanted_tools))
    errors = len([t for t in tools if t["status"] == "error"])
    state("tool errors", errors, len([t for t in wanted_tools if t.get("error")]))
    if wanted_tools and len(tools) == len(wanted_tools):
        _state_calls(state, tools, wanted_tools, truth["agents"], agent)
    if truth["agents"]:
        names = sorted({str(row["agent_name"]).lower() for row in rows.of("agents", traces) if row["agent_name"]})
        state("agents", names, sorted({agent(name) for name in truth["agents"]}))
    pairs = [[str(h["from_agent"]).lower(), str(h["to_agent"]).lower()] for h in rows.of("handoffs", traces)]
    if truth["handoffs"]:
        state("handoffs", pairs, [[agent(h["from"]), agent(h["to"])] for h in truth["handoffs"]])
    elif len(truth["agents"]) <= 1:
        state("handoffs", pairs, [])
    state("session", last.get("session_id"), truth["session_id"])
    return out


def _state_calls(state: Any, tools: Rows, wanted: Rows, agents: list[str], agent: Any) -> None:
    def key(call: dict[str, Any]) -> tuple[str, str]:
        return call.get("tool_name") or call.get("name") or "", str(_loose(call.get("arguments")))

    pairs = list(zip(sorted(tools, key=key), sorted(wanted, key=key), strict=True))
    got = [a["arguments"] for a, _ in pairs]
    same = all(a["arguments"] and _holds(a["arguments"], w["arguments"]) for a, w in pairs)
    state("tool arguments", got if any(got) else None, [w["arguments"] for _, w in pairs], same)
    good = [(a, w) for a, w in pairs if "result" in w and not w.get("error")]
    if good:
        results = [a["result"] for a, _ in good]
        same = all(a["result"] and _holds(a["result"], w["result"]) for a, w in good)
        state("tool results", results if any(results) else None, [w["result"] for _, w in good], same)
    if len(agents) > 1:
        callers = [str(a["agent_name"]).lower() if a["agent_name"] else None for a, _ in pairs]
        state("tool's agent", callers if any(callers) else None, [agent(w["agent"]) for _, w in pairs])


def _text(value: Any) -> str | None:
    return None if value is None else re.sub(r"\s+", " ", str(value)).strip()


def _loose(value: Any) -> str:
    """One comparable form: sorted JSON where it is JSON, else text without spaces."""
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return re.sub(r"\s+", "", value)
    return json.dumps(value, sort_keys=True)


def _holds(actual: Any, wanted: Any) -> bool:
    """Whether a value is the true one or visibly wraps it."""
    bare = [re.sub(r"[\\\"' ]", "", _loose(value)) for value in (actual, wanted)]
    return _loose(actual) == _loose(wanted) or bare[1] in bare[0]
