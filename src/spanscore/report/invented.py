"""Shows the claims of an answer that no source supports, each at its place in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from spanscore.report import figures
from spanscore.report.rows import read_rows
from spanscore.report.terminal import safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.store import ReadSession


def invented_claims(session: ReadSession) -> Iterator[Text]:
    """One text per run with such claims: who answered, the answer with the claims marked, where they stand in it."""
    answers: dict[str, tuple[str, str, list[tuple[int, int, str]]]] = {}
    for row in read_rows(session, "reports/invented.sql"):
        places = zip(row["starts"], row["ends"], row["claims"], strict=True)
        _, _, marked = answers.setdefault(row["run_id"], (row["agent"] or "", row["final_answer"], []))
        marked += places
    ids = figures.short_ids(answers)
    for run_id, (agent, answer, marked) in answers.items():
        yield _marked(ids[run_id], agent, answer, sorted(marked))


def _marked(short_id: str, agent: str, answer: str, marked: list[tuple[int, int, str]]) -> Text:
    shown = Text(f"{short_id} {safe_text(agent)}: ", style="dim")
    done = 0
    for start, end, _ in marked:
        shown.append(safe_text(answer[done:start]), style="not dim")
        shown.append(safe_text(answer[start:end]), style="bold red underline not dim")
        done = end
    shown.append(safe_text(answer[done:]), style="not dim")
    for start, end, claim in marked:
        shown.append(f"\n   no source for {safe_text(claim)} (characters {start} to {end})", style="red not dim")
    return shown
