"""spanscore.toml: no word of it is passed over in silence, whoever reads it."""

from pathlib import Path

import pytest

from spanscore.errors import UsageError
from spanscore.evaluate import Catalogue, find_evaluators
from spanscore.production.rules import read_alerting
from spanscore.settings import NAME, TABLES, read_settings
from spanscore.store.price_overrides import find_price_file

ROOT = Path(__file__).parents[1]
READERS = {
    "evaluators": find_evaluators,
    "alerts": lambda folder: read_alerting(folder / NAME, Catalogue()),
    "prices": lambda folder: find_price_file(None, environ={}, folder=folder),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[[alert]]\nname = 'a'\n", 1, "there is no table `alert`.\n  Did you mean `alerts`?"),
        ("\n[alert]\nname = 'a'\n", 2, "there is no table `alert`.\n  Did you mean `alerts`?"),
        ("[Alerting]\nwebhook = 'https://x'\n", 1, "Did you mean `alerting`?"),
        ("[evaluator.steps]\nparams = {}\n", 1, "Did you mean `evaluators`?"),
        ("price = 'prices.csv'\n", 1, "Did you mean `prices`?"),
        ("[colours]\n", 1, "There are `alerts`, `alerting`, `evaluators`, `prices`."),
        (
            "[prices]\nfile = 'p.csv'\nfiles = 'q.csv'\n",
            3,
            "`files` is no setting of `prices`.\n  Did you mean `file`?",
        ),
        ("[alerting]\nwebhok = 'https://x'\n", 2, "Did you mean `webhook`?"),
        ("[[alerts]]\nname = 'a'\n\n[[alerts]]\nname = 'b'\nmetrics = 'cost'\n", 6, "Did you mean `metric`?"),
    ],
)
def test_a_word_that_is_no_setting_is_an_error_for_every_reader(
    tmp_path: Path, reader: str, text: str, line: int, said: str
) -> None:
    (tmp_path / NAME).write_text(text, encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        READERS[reader](tmp_path)
    assert f"{tmp_path / NAME}:{line}: " in str(caught.value)
    assert said in str(caught.value)


def test_all_unknown_words_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("[alert]\n[price]\n[alerting]\nurl = 'x'\n", encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path / NAME)
    assert [word for word in ("`alert`", "`price`", "`url`") if word not in str(caught.value)] == []


def test_only_one_file_reads_the_settings() -> None:
    """A reader of its own would pass over what it does not know."""
    readers = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "src" / "spanscore").rglob("*.py"))
        if f'"{NAME}"' in path.read_text(encoding="utf-8")
    ]

    assert readers == ["src/spanscore/settings.py"]


def test_every_table_and_key_is_documented() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    undocumented = [
        word for table, keys in TABLES.items() for word in (f"[{table}", *(keys or ())) if word not in pages
    ]

    assert undocumented == []
