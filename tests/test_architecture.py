"""The rules of the house: which room may import which, what loads when, how long a file may be, what ships."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "spanscore"

# A room imports from rooms further up in this list, never from its own line or below. A file at the top of the package
# is a room of its own: the work behind one command, without a word about the command line.
LAYERS = [
    {"__init__", "errors"},
    {"addresses", "settings", "wording"},
    {"otlp", "statistics"},  # pure: bytes and numbers
    {"store"},
    {"collector", "evaluate", "judge"},
    {"bench", "demo", "ingest", "production", "rebuild", "repair", "scale"},
    {"experiments", "retention"},
    {"report"},
    {"doctor", "shell"},
    {"cli"},
    {"__main__"},
]
LAYER_OF = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}

# Libraries that only the named rooms may import, so that one room can be understood, replaced or left out alone.
AT_HOME = {
    "duckdb": {"store"},
    "grpc": {"collector", "demo"},
    "h11": {"collector"},
    "prompt_toolkit": {"shell"},
    "ptars": {"otlp"},
    "pygments": {"shell"},
    "rich": {"cli", "report"},
    "starlette": {"collector"},
    "typer": {"cli"},
    "uvicorn": {"collector"},
}
PURE = {"statistics": {"duckdb", "grpc", "pyarrow", "rich", "typer"}, "otlp": {"duckdb", "typer"}}

HEAVY = ("duckdb", "google.protobuf", "grpc", "ptars", "pyarrow", "starlette", "uvicorn")
LONGEST = {".py": 400, ".sql": 150}


def room_of(path: Path) -> str:
    """The folder of the package that a file is in, or its own name at the top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full module name of every import of a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: import by full name, not relatively"
            # `from spanscore import store` names the room in what it imports, `from spanscore.store import …` before.
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "spanscore" else []
            yield from ((node.lineno, name) for name in names or [str(node.module)])


def room_imports() -> list[tuple[str, str, str]]:
    """(place, room, imported room) for every import between two rooms."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, module in imports(path):
            parts = module.split(".")
            if parts[0] == "spanscore" and len(parts) > 1:
                target = (
                    parts[1] if (PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").exists() else "__init__"
                )
                if target != room_of(path):
                    found.append((f"{path.relative_to(ROOT)}:{line}", room_of(path), target))
    return found


def test_every_room_has_a_place_in_the_house():
    rooms = {room_of(path) for path in PACKAGE.rglob("*.py")}

    assert rooms - LAYER_OF.keys() == set(), "say in LAYERS which rooms the new one may import"


def test_imports_go_one_way():
    wrong = [
        f"{place}: {room} imports {target}"
        for place, room, target in room_imports()
        if LAYER_OF[room] <= LAYER_OF[target]
    ]

    assert wrong == []


def test_libraries_stay_at_home():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module} belongs to {sorted(AT_HOME[library])}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, module in imports(path)
        if (library := module.split(".")[0]) in AT_HOME and room_of(path) not in AT_HOME[library]
    ]

    assert wrong == []


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_import_none_of(room):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for line, module in imports(path)
        if module.split(".")[0] in PURE[room]
    ]

    assert wrong == []


def loaded_by(program: str) -> list[str]:
    """The heavy modules that a program has loaded by its end, in a fresh interpreter."""
    report = f"import sys; print('\\nLOADED', *[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", f"import atexit\natexit.register(exec, {report!r}, {{}})\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "LOADED" in result.stdout, result.stderr
    return result.stdout.rsplit("LOADED", 1)[1].split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import spanscore; assert spanscore.__version__") == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ingest", "--help"], ["collect", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    assert (
        loaded_by(f"import sys\nsys.argv = ['spanscore', *{arguments!r}]\nimport spanscore.cli\nspanscore.cli.main()")
        == []
    )


def source_files(*endings: str) -> list[Path]:
    """The files of the project with these endings, tests and captured traces excepted."""
    folders = [PACKAGE, ROOT / "queries", ROOT / "instrumentation" / "src", ROOT / "scripts", ROOT / "benchmarks"]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in endings)


def test_no_file_is_longer_than_a_reader_can_hold():
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in source_files(*LONGEST)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST[path.suffix]
    }

    assert too_long == {}


def test_no_path_of_a_developers_machine():
    home = re.compile(r"(?<![\w.])/(home|root|Users)/\w|[A-Z]:\\Users\\")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "Makefile", *(ROOT / "docs").rglob("*.md")]
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*source_files(".py", ".sql", ".csv", ".toml", ".yaml", ".md"), *pages]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if home.search(line)
    ]

    assert wrong == []


def test_both_packages_have_one_version():
    from spanscore import __version__

    namespace: dict[str, str] = {}
    exec((ROOT / "instrumentation/src/spanscore_instrumentation/_version.py").read_text(encoding="utf-8"), namespace)

    assert namespace["__version__"] == __version__


def test_every_declared_dependency_is_imported_and_every_import_declared():
    declared = {
        re.split(r"[<>=~\[ ]", requirement)[0].lower()
        for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "dependencies"
        ]
    }
    distribution_of = {
        "google": "protobuf",
        "grpc": "grpcio",
        "opentelemetry": "opentelemetry-proto",
        "yaml": "pyyaml",
    }
    imported = {
        module.split(".")[0]
        for path in PACKAGE.rglob("*.py")
        for _, module in imports(path)
        if module.split(".")[0] not in {*sys.stdlib_module_names, "spanscore"}
    }
    # uvicorn speaks HTTP/1.1 with h11 and imports it by itself.
    needed = {distribution_of.get(name, name) for name in imported} | ({"h11"} if "uvicorn" in imported else set())

    assert declared == needed
