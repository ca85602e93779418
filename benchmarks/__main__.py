"""`make bench`: every measurement in turn, or those named: `python -m benchmarks startup`.

Figures hold for one machine at one moment; compare those of one run with each other. A missed target is shown and does
not fail: other programs may have been running.
"""

import sys

from benchmarks import collect, evaluate, ingest, instrumentation, startup
from benchmarks.figures import table

BENCHMARKS = {
    "instrumentation": instrumentation,
    "startup": startup,
    "ingest": ingest,
    "evaluate": evaluate,
    "collect": collect,
}


def main(names: list[str]) -> int:
    """Run the measurements and print their figures; exit code 2 for a name that is none."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}\n")
        return 2
    for name in names or BENCHMARKS:
        sys.stdout.write(f"{name}\n{table(BENCHMARKS[name].measure())}\n\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
