"""One run as a tree: agents inside agents, in each its LLM calls, tool calls and handoffs in the order of time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from spanscore.report import figures
from spanscore.report.rows import Row
from spanscore.report.runs import status_text
from spanscore.report.terminal import cut, plain, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType
    from rich.tree import Tree

    from spanscore.report.trace import RunTrace

# Beyond this depth a branch is continued at the left, so that a chain of thousands of agents stays readable.
_DEEPEST = 30
# Sorts behind every moment.
_NEVER = "~"


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of each text is shown [characters], and whether messages are."""

    text: int
    messages: bool
    keep_lines: bool

    def with_messages(self) -> Detail:
        """The same with the new messages of each LLM call below it."""
        return replace(self, messages=True)

    def show(self, value: str | None, style: str = "") -> Text:
        """`value` cut to size and made safe."""
        if value is None:
            return Text("-", style="dim")
        sized = cut(value, self.text) if self.keep_lines else shorten(value, self.text)
        return plain(sized, style, keep_lines=self.keep_lines)


BRIEF = Detail(text=160, messages=False, keep_lines=False)
FULL = Detail(text=100_000, messages=False, keep_lines=True)


def render_run(trace: RunTrace, detail: Detail) -> Iterator[RenderableType]:
    """The parts of the page, top to bottom: facts, question, answer, tree, findings."""
    yield _facts(trace.run)
    yield _labelled("question", detail.show(trace.run["question"]))
    yield _labelled("answer", detail.show(trace.run["final_answer"]))
    yield Text()
    yield _tree(trace, detail)
    if trace.findings:
        yield Text()
        yield Text("findings", style="bold")
        counted = Counter((finding["kind"], finding["detail"]) for finding in trace.findings)
        for (kind, text), n in counted.items():
            times = f" ({n} times)" if n > 1 else ""
            yield (
                Text("  ").append_text(plain(kind, "yellow")).append("  ").append_text(detail.show(text)).append(times)
            )


def _labelled(label: str, text: Text) -> Text:
    return Text(f"{label:<9}", style="bold").append_text(text)


def _facts(run: Row) -> Text:
    parts = [
        Text("run ", style="bold").append_text(plain(run["run_id"], "cyan")),
        status_text(run["status"]),
        plain(figures.when(run["started_at"]) + " UTC"),
        plain(figures.duration(run["duration_s"])),
        plain(_tokens(run)),
        plain(figures.usd(run["cost_usd"], run["unpriced_llm_calls"])),
    ]
    parts += [
        Text(f"{label} ").append_text(plain(run[key]))
        for key, label in (
            ("service_name", "service"),
            ("session_id", "session"),
            ("case_id", "case"),
            ("error_type", "error"),
        )
        if run[key] is not None
    ]
    return Text("  ").join(parts)


def _tokens(row: Row) -> str:
    cached = row.get("cache_read_tokens")
    aside = f" ({figures.count(cached)} cached)" if cached else ""
    return f"{figures.count(row['input_tokens'])} in{aside} / {figures.count(row['output_tokens'])} out"


@dataclass(frozen=True, slots=True)
class _Item:
    """One line of the tree, not yet placed."""

    started_at: str | None
    seq: int
    line: Text
    below: list[Text]
    agent_invocation_id: str | None = None


def _tree(trace: RunTrace, detail: Detail) -> Tree:
    """The tree. Built without recursion: ids come from the wire, so chains may be long and parents may form a ring."""
    from rich.tree import Tree

    children = _placed(trace, detail)
    root = Tree(
        plain(trace.run["name"] or trace.run["entry_agent"] or "run", "bold"), guide_style="dim", highlight=False
    )
    seen: set[str] = set()
    starts: list[str | None] = [None, *(row["agent_invocation_id"] for row in trace.agent_invocations)]
    for start in starts:
        if start is None:
            stack = [(root, item, 1) for item in reversed(children[None])]
        elif start not in seen:
            # Reached from nowhere: its parents form a ring, so it is shown at the top.
            stack = [(root, item, 1) for item in _itself(start, children)]
        else:
            continue
        while stack:
            parent, item, depth = stack.pop()
            own = item.agent_invocation_id
            if own is not None and own in seen:
                continue
            branch = parent.add(item.line)
            for line in item.below:
                branch.add(line)
            if own is not None:
                seen.add(own)
                under = branch if depth % _DEEPEST else root
                stack += [(under, child, depth + 1) for child in reversed(children[own])]
    return root


def _itself(agent_invocation_id: str, children: dict[str | None, list[_Item]]) -> list[_Item]:
    return [
        item for items in list(children.values()) for item in items if item.agent_invocation_id == agent_invocation_id
    ]


def _placed(trace: RunTrace, detail: Detail) -> dict[str | None, list[_Item]]:
    """agent invocation id (None: the run itself) -> what stands under it, in order."""
    known = {row["agent_invocation_id"] for row in trace.agent_invocations}
    spoken: dict[str | None, list[Text]] = defaultdict(list)
    if detail.messages:
        for row in trace.messages:
            spoken[row["llm_call_id"]].append(_message_line(row, detail))
    placed: dict[str | None, list[_Item]] = defaultdict(list)

    def place(owner: str | None, item: _Item) -> None:
        placed[owner if owner in known else None].append(item)

    for row in trace.agent_invocations:
        parent = row["parent_agent_invocation_id"]
        own = row["agent_invocation_id"]
        place(parent, _Item(row["started_at"], row["seq"] or 0, _agent_line(row), [], own))
    for row in trace.llm_calls:
        item = _Item(row["started_at"], row["seq"] or 0, _llm_line(row, detail), spoken[row["llm_call_id"]])
        place(row["agent_invocation_id"], item)
    others: list[tuple[list[Row], Callable[[Row, Detail], Text], str, str]] = [
        (trace.tool_calls, _tool_line, "started_at", "agent_invocation_id"),
        (trace.tool_requests, _request_line, "started_at", "agent_invocation_id"),
        (trace.handoffs, _handoff_line, "at", "from_invocation_id"),
        (trace.retrievals, _retrieval_line, "started_at", "agent_invocation_id"),
    ]
    for rows, line, moment, owner in others:
        for row in rows:
            place(row[owner], _Item(row[moment], row.get("seq") or 0, line(row, detail), []))
    for items in placed.values():
        # A stable sort keeps agents, LLM calls, tools and handoffs of one instant in that order.
        items.sort(key=lambda item: (item.started_at or _NEVER, item.seq if item.started_at is None else 0))
    return placed


def _joined(kind: str, style: str, name: Text, parts: list[Text | str | None]) -> Text:
    line = Text(f"{kind} ", style=style).append_text(name)
    for part in parts:
        if part is not None:
            line.append("  ").append_text(plain(part) if isinstance(part, str) else part)
    return line


def _failure(row: Row, detail: Detail | None = None) -> Text | None:
    if row["status"] in (None, "ok"):
        return None
    text = status_text(row["status"])
    if row["error_type"] is not None:
        text = text.append(" ").append_text(plain(row["error_type"]))
    message = row.get("error_message")
    if message is not None and detail is not None:
        text = text.append(": ").append_text(detail.show(message))
    return text


def _agent_line(row: Row) -> Text:
    used = None
    if row["llm_calls"] or row["tool_calls"]:
        used = f"{figures.count(row['llm_calls'])} LLM, {figures.counted(row['tool_calls'], 'tool call')}"
    return _joined(
        "agent",
        "magenta",
        plain(row["agent_name"], "bold"),
        [used, figures.duration(row["duration_s"]), _failure(row)],
    )


def _llm_line(row: Row, detail: Detail) -> Text:
    asked, answered = row["request_model"], row["response_model"]
    reasoning = row["reasoning_tokens"]
    return _joined(
        "llm",
        "blue",
        plain(answered or asked or row["operation"]),
        [
            _tokens(row) + (f" ({figures.count(reasoning)} reasoning)" if reasoning else ""),
            "price unknown" if row["cost_usd"] is None else figures.usd(row["cost_usd"]),
            figures.duration(row["duration_s"]),
            row["finish_reason"],
            _failure(row, detail),
        ],
    )


def _tool_line(row: Row, detail: Detail) -> Text:
    name = plain(row["tool_name"], "bold").append("(")
    name = (name.append_text(detail.show(row["arguments"])) if row["arguments"] is not None else name).append(")")
    result = None if row["result"] is None else Text("-> ").append_text(detail.show(row["result"]))
    kind = "transfer" if row["is_handoff"] else "agent tool" if row["is_agent_tool"] else "tool"
    took = None if row["duration_s"] is None else figures.duration(row["duration_s"])
    return _joined(kind, "green", name, [result, took, _failure(row, detail)])


def _request_line(row: Row, detail: Detail) -> Text:
    name = plain(row["tool_name"], "bold").append("(")
    name = (name.append_text(detail.show(row["arguments"])) if row["arguments"] is not None else name).append(")")
    told = None if row["response"] is None else Text("-> ").append_text(detail.show(row["response"]))
    return _joined("asked for", "yellow", name, [plain(row["outcome"], "yellow"), told])


def _handoff_line(row: Row, _detail: Detail) -> Text:
    ends = plain(row["from_agent"], "bold").append(" -> ").append_text(plain(row["to_agent"], "bold"))
    note = "bounced back" if row["is_bounce"] else "back" if row["is_back"] else None
    failed = Text("never started", style="bold red") if row["succeeded"] is False else None
    return _joined("handoff", "yellow", ends, [note, failed])


def _retrieval_line(row: Row, detail: Detail) -> Text:
    query = plain(None) if row["query"] is None else detail.show(row["query"])
    found = None if row["n_documents"] is None else f"{figures.counted(row['n_documents'], 'document')}"
    return _joined("retrieval", "green", query, [found, figures.duration(row["duration_s"])])


def _message_line(row: Row, detail: Detail) -> Text:
    line = plain(row["role"] or row["direction"], "dim").append(": ")
    if row["text"] is not None:
        return line.append_text(detail.show(row["text"]))
    line.append_text(plain(row["part_type"], "dim"))
    if row["tool_name"] is not None:
        line.append(" ").append_text(plain(row["tool_name"]))
    for value in (row["arguments"], row["response"]):
        if value is not None:
            line.append(" ").append_text(detail.show(value))
    return line
