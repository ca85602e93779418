"""Ways to run `spanscore` in tests, and the captures that they use."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

CORPUS = Path(__file__).parents[1] / "corpus"
CAPTURES = (
    "openaiagents-openinference/multi_handoff.jsonl.gz",
    "langgraph-genai/tool_retry.jsonl",
    "openai-genai/ungrounded.jsonl",
    "openai-genai/llm_fail.jsonl",
    "openai-otelv2legacy/one_tool.jsonl",
    "openai-otelv2legacy/one_tool.logs.jsonl",
)
HANDOFFS_TRACE = "54611c327883263e483c07d1eeaf6527"


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


def run(*words: object, width: int | None = None) -> Outcome:
    """Run `spanscore` with these words in this process."""
    from spanscore.cli import app

    env = {"COLUMNS": None if width is None else str(width), "SPANSCORE_STORE": None}
    result = CliRunner().invoke(app, [str(word) for word in words], env=env)
    return Outcome(result.exit_code, result.stdout, result.stderr)


def start(*words: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start `spanscore` with these words as a process of its own."""
    command = [sys.executable, "-c", "from spanscore.cli import main; main()", *map(str, words)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": dict(os.environ), **options}
    return subprocess.Popen(command, **options)
