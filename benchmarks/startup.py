"""How long the command line takes to answer."""

import subprocess
import sys

from benchmarks.figures import Figure, seconds

LIMIT_S = 0.4
ROUNDS = 5


def measure() -> list[Figure]:
    """Seconds for a bare interpreter and for `spanscore --help`, whole processes."""
    programs = {"python -c pass": "pass", "spanscore --help": "import sys; sys.argv = ['spanscore', '--help']\n"}
    programs["spanscore --help"] += "from spanscore.cli import main\nmain()"

    def run(program: str) -> None:
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    bare, helped = (seconds(lambda program=program: run(program), rounds=ROUNDS) for program in programs.values())
    return [
        Figure("a bare interpreter, whole process", bare, "s"),
        Figure("spanscore --help, whole process", helped, "s", f"< {LIMIT_S:g} s", met=helped < LIMIT_S),
    ]
