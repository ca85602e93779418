"""Which attributes carry content: prompts, answers, instructions, tool arguments and results, retrieved documents.

The keys are those that `queries/conventions/attributes.csv` reads content from, so a dialect that is learnt there is
kept out here too, in whatever scope its keys stand.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from spanscore.store.queries import query_path

CONTENT_COLUMNS = frozenset(
    {
        "crew_tasks",
        "display_name",
        "input_messages",
        "output_messages",
        "output_text",
        "output_tool_calls",
        "retrieval_documents",
        "retrieval_query",
        "system_instructions",
        "tool_arguments",
        "tool_result",
        "trace_input",
        "trace_output",
    }
)
"""Columns of the attribute map whose sources are content."""

# One attribute a message or a document, and keys that carry content which no evaluator reads.
_FAMILIES = re.compile(
    r"(?:llm\.(?:input|output)_messages|gen_ai\.(?:prompt|completion)|llm\.(?:prompts|completions)|retrieval\.documents"
    r"|embedding\.embeddings|reranker\.(?:input|output)_documents)\.\d+\.(?!finish_reason$)"
    r"|(?:llm\.prompt_template\.(?:template|variables)|llm\.(?:prompts|completions)|embedding\.text|reranker\.query"
    r"|document\.content|message(?:\.content)?|gen_ai\.event\.content|traceloop\.prompt\.template"
    r"|ai\.result\.(?:text|object|toolCalls)|ai\.(?:value|values|embedding|embeddings)"
    r"|mlflow\.trace(?:Inputs|Outputs)|langsmith\.(?:inputs|outputs)|langfuse\.(?:input|output))$"
)
_MESSAGE_EVENT = re.compile(r"gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice|content\.\w+)$")
_MESSAGE_KEYS = frozenset({"content", "message", "tool_calls", "arguments"})
_HASH_PREFIX = "spanscore.content_hash."


@dataclass(frozen=True)
class ContentKeys:
    """The keys that carry content.

    Attributes:
        anywhere: on spans, span events and log records.
        by_event: only on span events and log records of a name: name -> keys.
    """

    anywhere: frozenset[str]
    by_event: dict[str, frozenset[str]]

    def has(self, key: str, event: str | None = None) -> bool:
        """Whether an attribute carries content; `event` is the name of the span event or log record it stands on."""
        if key in self.anywhere or _FAMILIES.match(key) is not None:
            return True
        if event is None:
            return False
        return key in self.by_event.get(event, ()) or (key in _MESSAGE_KEYS and is_message(event))


def is_message(event: str) -> bool:
    """Whether a span event or log record is a message, its body too."""
    return _MESSAGE_EVENT.match(event) is not None


def hash_key(key: str) -> str:
    """The key under which the hash of an attribute's content is kept, which nothing takes for content."""
    return key if key.startswith(_HASH_PREFIX) else _HASH_PREFIX + key


@cache
def content_keys() -> ContentKeys:
    """The keys of content, as the attribute map has them."""
    anywhere = set()
    by_event: defaultdict[str, set[str]] = defaultdict(set)
    with query_path("conventions/attributes.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["column"] not in CONTENT_COLUMNS:
                continue
            event, bar, key = row["key"].partition("|")
            if not bar:
                anywhere.add(row["key"])
            elif event.startswith("log."):
                # `queries/conventions/claude_code.sql` reads these from log records of either name.
                name = event.removeprefix("log.")
                by_event[name].add(key)
                by_event[f"claude_code.{name}"].add(key)
            else:
                by_event[event].add(key)
    return ContentKeys(frozenset(anywhere), {name: frozenset(keys) for name, keys in by_event.items()})
