"""The shipped price list is what the build script makes of the genai-prices it names."""

import hashlib
import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spanscore.store.queries import query_path

FOLDER = query_path("prices")
SNAPSHOT = json.loads((FOLDER / "snapshot.json").read_text(encoding="utf-8"))
TABLES = ["prices", "model_match", "provider_match"]
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "build_prices.py"


@pytest.fixture(scope="module")
def build_prices():
    pytest.importorskip("genai_prices")
    spec = importlib.util.spec_from_file_location("build_prices", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # Its dataclass looks up its own module by name.
    sys.modules["build_prices"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["build_prices"]


def same_version() -> bool:
    try:
        return importlib.metadata.version("genai-prices") == SNAPSHOT["genai_prices_version"]
    except importlib.metadata.PackageNotFoundError:
        return False


@pytest.mark.skipif(not same_version(), reason="another genai-prices than the one of the snapshot is installed")
def test_a_rebuild_gives_the_shipped_tables(build_prices):
    rebuilt = build_prices.build_tables()

    assert sorted(rebuilt) == sorted(TABLES)
    for name in TABLES:
        assert rebuilt[name].equals(pq.read_table(FOLDER / f"{name}.parquet")), name


@pytest.mark.skipif(not same_version(), reason="another genai-prices than the one of the snapshot is installed")
def test_the_same_version_gives_the_same_bytes(build_prices, tmp_path, monkeypatch):
    for out in ("first", "second"):
        (tmp_path / out).mkdir()
        monkeypatch.setattr(
            sys, "argv", ["build_prices.py", "--out", str(tmp_path / out), "--date", SNAPSHOT["snapshot_date"]]
        )
        build_prices.main()

    for name in [*(f"{table}.parquet" for table in TABLES), "snapshot.json"]:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@pytest.mark.parametrize("name", TABLES)
def test_the_snapshot_file_names_the_shipped_bytes(name):
    path = FOLDER / f"{name}.parquet"
    metadata = pq.read_schema(path).metadata

    assert SNAPSHOT[name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert metadata[b"genai_prices_version"].decode() == SNAPSHOT["genai_prices_version"]
    assert metadata[b"snapshot_date"].decode() == SNAPSHOT["snapshot_date"]


def test_a_conjunction_of_two_regular_expressions_is_refused(build_prices):
    with pytest.raises(ValueError, match="two `matches` tests"):
        build_prices.Clause(matches="a").both(build_prices.Clause(matches="b"))


@pytest.mark.parametrize(
    ("pattern", "clause"),
    [
        (r"^gpt-5\.4-\d{8}$", {"starts_with": "gpt-5.4-", "matches": r"^gpt-5\.4-\d{8}$"}),
        (r"^(?!.*-tts(?:$|-))", {"excludes": r"^(?:.*-tts(?:$|-))"}),
        (r"^(?![^/]+/)mistral", {"starts_with": "mistral", "matches": "^mistral", "excludes": "^(?:[^/]+/)"}),
        (r"^grok-\d?", {"starts_with": "grok-", "matches": r"^grok-\d?"}),
        (r"^groks?$", {"matches": r"^groks?$"}),
        (r"^a|b", {"matches": "^a|b"}),
    ],
)
def test_a_regular_expression_becomes_a_clause(build_prices, pattern, clause):
    assert build_prices.regex_clause(pattern) == build_prices.Clause(**clause)
