"""The Python blocks of the documentation run as they stand, one after another as a reader would run them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["docs/instrumentation.md", "instrumentation/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_python_block_runs_and_records(page, spans, monkeypatch):
    import spanscore_instrumentation as si

    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks
    original = si.setup
    # The provider of the tests stays; an exporter to the address on the page would only wait for nobody.
    monkeypatch.setattr(si, "setup", lambda name, endpoint=None, **settings: original(name, **settings))
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)  # the point of the test

    if "answer" in scope and not spans():
        scope["answer"]("How large is Bern?")
    assert {s.attributes["gen_ai.operation.name"] for s in spans()} >= {"invoke_agent", "execute_tool", "chat"}
