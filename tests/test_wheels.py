"""Both wheels hold what they must, and work in a clean environment far from the checkout."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command and show what it said if it fails."""
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if check and result.returncode != 0:
        pytest.fail(f"{command} ended with {result.returncode}:\n{result.stdout}\n{result.stderr}")
    return result


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """The two wheels by package name, built from a source distribution as a release would be."""
    built = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "instrumentation"):
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", built, project, cwd=built)
    return {path.name.split("-")[0]: path for path in built.glob("*.whl")}


def names_in(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def files_below(folder: Path, *, as_: str) -> set[str]:
    """The names that the files of a folder have in a wheel."""
    return {
        f"{as_}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_query_and_every_module_is_in_the_wheel(wheels):
    names = names_in(wheels["spanscore"])
    queries = files_below(ROOT / "queries", as_="spanscore/queries")

    assert queries
    assert (queries | files_below(ROOT / "src" / "spanscore", as_="spanscore")) - names == set()
    assert {name.split("/")[0] for name in names} == {"spanscore", f"{wheels['spanscore'].name[:-17]}.dist-info"}


def test_the_wheel_of_the_instrumentation_holds_its_package_alone(wheels):
    names = names_in(wheels["spanscore_instrumentation"])
    modules = files_below(ROOT / "instrumentation/src/spanscore_instrumentation", as_="spanscore_instrumentation")

    assert modules - names == set()
    assert not [name for name in names if name.startswith(("tests", "spanscore/"))]


@pytest.fixture(scope="module")
def clean(wheels, tmp_path_factory) -> Path:
    """The folder of the programs of a new environment that holds the two wheels and what they depend on."""
    place = tmp_path_factory.mktemp("clean")
    venv.create(place / "env", with_pip=True)
    programs = place / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check")
    reach = run(*pip, "download", "-q", "--no-deps", "--no-cache-dir", "h11", cwd=place, check=False)
    if reach.returncode != 0:
        pytest.skip("the package index cannot be reached, so the dependencies of the wheels cannot be installed")
    run(*pip, "install", "-q", *wheels.values(), cwd=place)
    return programs


def test_the_program_works_from_an_empty_directory(clean, tmp_path):
    def spanscore(*arguments: str) -> str:
        return run(clean / "spanscore", *arguments, cwd=tmp_path).stdout

    version = spanscore("--version")
    demo = spanscore("demo", "--store", "here")
    rows = spanscore("sql", "select count(*) > 0 as found from runs", "--store", "here", "--format", "json")
    prices = spanscore("prices", "list")

    assert version.startswith("spanscore ")
    assert demo
    assert '"found":true' in rows.replace(" ", "")
    assert "gpt-4o" in prices


def test_the_instrumentation_works_with_the_api_alone(clean, tmp_path):
    program = (
        "import spanscore_instrumentation as si\nwith si.agent('a') as agent: agent.output('x')\nprint(si.setup('x'))"
    )
    result = run(clean / "python", "-c", program, cwd=tmp_path)

    assert result.stdout == "False\n"
    assert "pip install --upgrade opentelemetry-sdk opentelemetry-exporter-otlp" in result.stderr
    assert shutil.which("opentelemetry-instrument", path=str(clean)) is None
