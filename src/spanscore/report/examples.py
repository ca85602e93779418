"""The saved queries, listed."""

from __future__ import annotations

from dataclasses import asdict

from spanscore.report.documents import print_csv, print_json
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console
from spanscore.store.examples import examples


def print_examples(form: str) -> None:
    """Name and question of each; as JSON also its columns and its SQL."""
    rows = [asdict(one) for one in examples()]
    if form == "json":
        print_json(rows)
    elif form == "csv":
        print_csv(rows, ["name", "question"], raw=False)
    else:
        columns = [Column("name", lambda row: row["name"]), Column("answers", lambda row: row["question"])]
        console().print(grid(rows, columns))
