"""Large files are read in bounded memory: measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MEBIBYTE = 1 << 20
# The peak that `getrusage` tells may be that of the process which started this one.
READ_AND_MEASURE = """
import pathlib, re, sys
from spanscore.otlp import read_paths
spans = sum(len(chunk.tables.spans) for chunk in read_paths(sys.argv[1:]))
peak_kb = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
print(spans, peak_kb // 1024)
"""

pytestmark = pytest.mark.slow


def span(number: int) -> dict[str, Any]:
    attributes = [{"key": f"gen_ai.key.{place}", "value": {"stringValue": f"{number}" * 4}} for place in range(12)]
    attributes.append({"key": "gen_ai.input.messages", "value": {"stringValue": '{"text": "]}"}' * 80}})
    return {"traceId": f"{number + 1:032x}", "spanId": f"{number + 1:016x}", "name": "chat", "attributes": attributes}


def measured(path: Path) -> tuple[int, int]:
    """Spans read, and the peak memory of the process that read them [MiB]."""
    done = subprocess.run(
        [sys.executable, "-c", READ_AND_MEASURE, str(path)], check=True, capture_output=True, text=True
    )
    spans, peak = map(int, done.stdout.split())
    return spans, peak


@pytest.mark.parametrize("layout", ["one line", "indented", "header last"])
def test_a_single_document_of_150_mib(tmp_path: Path, layout: str) -> None:
    """A header after its spans costs the raw text of the document, which has to wait for it."""
    path, count = tmp_path / "document.json", 0
    header = '"resource":{"attributes":[]}'
    with path.open("w") as file:
        file.write('{"resourceSpans":[{' + ("" if layout == "header last" else header + ","))
        file.write('"scopeSpans":[{"scope":{"name":"s"},"spans":[')
        while file.tell() < 150 * MEBIBYTE:
            batch = [span(count + place) for place in range(500)]
            text = json.dumps(batch, indent=2 if layout == "indented" else None)
            file.write(("," if count else "") + text[1:-1])
            count += len(batch)
        file.write("]}]" + ("," + header if layout == "header last" else "") + "}]}")

    spans, peak = measured(path)

    assert spans == count
    assert peak < (600 if layout == "header last" else 400)


def test_a_gibibyte_of_lines(tmp_path: Path) -> None:
    path, count = tmp_path / "spans.jsonl", 0
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span(n) for n in range(500)]}]}]}) + "\n"
    with path.open("w") as file:
        while file.tell() < 1024 * MEBIBYTE:
            file.write(line)
            count += 500

    spans, peak = measured(path)

    assert spans == count
    assert peak < 400
