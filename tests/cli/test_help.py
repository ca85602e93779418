"""Help is quick, complete and shows examples."""

import subprocess
import sys

import pytest
from commands import run

COMMANDS = ("demo", "collect", "ingest", "traces", "trace", "score", "sql", "doctor", "rebuild", "prices")
HEAVY = ("duckdb", "pyarrow", "grpc", "uvicorn", "google.protobuf", "orjson", "pydantic", "starlette")


def test_help_names_every_command_and_the_exit_codes():
    shown = run("--help")

    assert shown.code == 0
    for command in COMMANDS:
        assert f" {command} " in shown.out
    assert "Exit codes" in shown.out


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "prices"])
def test_every_command_shows_an_example(command):
    shown = run(command, "--help")

    assert shown.code == 0
    assert f"spanscore {command}" in shown.out


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from spanscore.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


def test_no_command_is_a_usage_error_that_shows_the_help():
    shown = run()

    assert shown.code == 2
    assert "Usage" in shown.out + shown.err


def test_an_unknown_command_or_option_is_a_usage_error():
    assert run("trcaes").code == 2
    assert run("traces", "--colour", "red").code == 2


def test_the_version_is_printed():
    from spanscore import __version__

    assert run("--version").out == f"spanscore {__version__}\n"
