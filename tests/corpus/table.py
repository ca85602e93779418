"""Derives the captures, shows and writes the verdict of every fact: `python -m tests.corpus.table [CORPUS_DIR …]`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb

from spanscore.ingest import ingest_files
from tests.corpus.facts import HERE, Capture, captures, derived, facts

Outcomes = dict[str, dict[str, tuple[str, Any, Any]]]


def derive_all(chosen: list[Capture], folder: Path) -> Outcomes:
    """Every fact of the captures, loaded into one store in `folder`."""
    ingest_files([path for capture in chosen for path in capture.files], folder / "store")
    with duckdb.connect(str(folder / "store" / "spanscore.duckdb"), read_only=True) as connection:
        rows = derived(connection)
    return {capture.key: facts(capture, rows) for capture in chosen}


def verdict_table(outcomes: Outcomes) -> str:
    """Right, wrong and missing by fact and in all."""
    by_fact: dict[str, Counter[str]] = defaultdict(Counter)
    for capture_facts in outcomes.values():
        for fact, (verdict, _, _) in capture_facts.items():
            by_fact[fact][verdict] += 1
    total: Counter[str] = sum(by_fact.values(), Counter())
    lines = [f"{'fact':22} {'right':>6} {'wrong':>6} {'missing':>8}"]
    for fact, n in [*sorted(by_fact.items()), ("all", total)]:
        lines.append(f"{fact:22} {n['right']:>6} {n['wrong']:>6} {n['missing']:>8}")
    return "\n".join(lines)


def main(roots: list[Path]) -> None:
    """Prints the table and writes the verdicts as what is expected from now on."""
    chosen = {capture.key: capture for root in roots for capture in captures(root)}
    with tempfile.TemporaryDirectory() as folder:
        outcomes = derive_all(list(chosen.values()), Path(folder))
    verdicts = {key: {fact: verdict for fact, (verdict, _, _) in stated.items()} for key, stated in outcomes.items()}
    (HERE / "expected.json").write_text(json.dumps(verdicts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(verdict_table(outcomes))


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]] or [HERE])
