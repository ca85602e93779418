"""A pass in a process of its own that ends itself, as kill -9 would, when it has come to a point.

python pass_process.py STORE EVALUATORS EVENTS POINT: after that many steps; `N:write`: inside of transaction N;
`forget`: between sending and crossing off.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from passes import catalogue, job, one_pass

from spanscore.production.events import Destination
from spanscore.store import scoring

SELECTED = ("agent_success", "run_error", "tool_error_rate")


def die(*_: object) -> None:
    """End at once, without a word to anybody."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(store: Path, folder: Path, events: Path, point: str) -> None:
    """A pass that ends at the point."""
    steps = 0

    def on_step(*_: object) -> None:
        nonlocal steps
        steps += 1
        print(steps, flush=True)
        if point.isdigit() and steps == int(point):
            die()

    if point.endswith(":write"):
        left = int(point.removesuffix(":write"))
        replace = scoring.replace_scores

        def replace_and_die(*words: Any, **options: Any) -> Any:
            nonlocal left
            found = replace(*words, **options)
            left -= 1
            return die() if left == 0 else found

        scoring.replace_scores = replace_and_die
    if point == "forget":
        import spanscore.production.events

        spanscore.production.events.forget_sent = die
    destination = Destination(str(events), {})
    one_pass(
        job(store, catalogue(folder, SELECTED), batch=5, destination=destination.name), emit=events, on_step=on_step
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
