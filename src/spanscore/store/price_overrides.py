"""The user's own prices: a CSV file whose rows win over the shipped price list.

    provider,model,valid_from,input_mtok,output_mtok,cache_read_mtok
    azure,my-deployment,2026-01-01,2.00,8.00,0.50
    ,llama-on-our-gpu,,0,0,

`model` is the name in the trace or a model id of `spanscore prices list`; an empty `provider` means any; `valid_from`
is the first day [UTC], empty for always. Prices are USD per million tokens (`requests_kcount`: per thousand requests).
A part without a price is charged as the part that contains it: cached tokens as input, reasoning as output. Lines that
begin with # are comments.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.errors import UsageError
from spanscore.settings import NAME, read_settings
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PRICE_KEYS = (
    "input_mtok",
    "output_mtok",
    "cache_read_mtok",
    "cache_write_mtok",
    "cache_write_1h_mtok",
    "output_reasoning_mtok",
    "input_audio_mtok",
    "output_audio_mtok",
    "requests_kcount",
)
_NAME_COLUMNS = ("provider", "model", "valid_from")
_CONTAINED_IN = {
    "cache_read_mtok": "input_mtok",
    "cache_write_mtok": "input_mtok",
    "cache_write_1h_mtok": "cache_write_mtok",
    "input_audio_mtok": "input_mtok",
    "output_reasoning_mtok": "output_mtok",
    "output_audio_mtok": "output_mtok",
}


@dataclass(frozen=True, slots=True)
class PriceOverride:
    """One row of the file. Names are lower case; `prices` is USD by price key; None = any provider, or always."""

    provider: str | None
    model: str
    valid_from: dt.date | None
    prices: Mapping[str, float]


def find_price_file(option: Path | None, *, environ: Mapping[str, str], folder: Path) -> Path | None:
    """The user's price file: `option`, else `$SPANSCORE_PRICES`, else `[prices] file` of `spanscore.toml` in `folder`.

    Raises:
        UsageError: `spanscore.toml` cannot be used, or names something else than a file.
    """
    if option is not None:
        return option
    named = environ.get("SPANSCORE_PRICES")
    if named:
        return folder / named
    settings = read_settings(folder / NAME)
    if settings is None:
        return None
    prices = settings.tables.get("prices", {})
    name = prices.get("file") if isinstance(prices, dict) else None
    if name is None and prices == {}:
        return None
    if not isinstance(name, str) or name == "":
        raise UsageError(
            f'{settings.place("prices")}: [prices] must name a file.\n  Write:  [prices]  file = "prices.csv"'
        )
    return folder / name


def read_price_overrides(path: Path) -> list[PriceOverride]:
    """The rows of the price file at `path`.

    Raises:
        UsageError: it cannot be read, or holds something that is no price; every bad line is named.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The price file `{path}` cannot be read: {error}\n"
            "  Name a CSV file in UTF-8 with --prices, $SPANSCORE_PRICES or spanscore.toml."
        ) from error
    content = _content(lines)
    number, header = next(content, (1, []))
    problems = [f"{path}:{number}: {problem}" for problem in _header_problems(header)]
    overrides: list[PriceOverride] = []
    seen: dict[tuple[str | None, str, dt.date | None], int] = {}
    if not problems:
        for number, cells in content:
            override, faults = _read_row(header, cells)
            problems += [f"{path}:{number}: {fault}" for fault in faults]
            if override is None:
                continue
            key = (override.provider, override.model, override.valid_from)
            if key in seen:
                problems.append(
                    f"{path}:{number}: line {seen[key]} already prices `{override.model}` from the same day.\n"
                    "  Keep one of them, or give them different valid_from."
                )
            seen.setdefault(key, number)
            overrides.append(override)
    if problems:
        raise UsageError("\n".join(problems))
    return overrides


def _content(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, [cell.strip() for cell in next(csv.reader([line]))]


def _header_problems(header: list[str]) -> list[str]:
    known = [*_NAME_COLUMNS, *PRICE_KEYS]
    problems = [f"unknown column `{name}`.\n  Columns are {', '.join(known)}." for name in header if name not in known]
    problems += [f"column `{name}` is there twice." for name in known if header.count(name) > 1]
    if "model" not in header:
        problems.append("there is no column `model`.\n  The first line names the columns: provider,model,input_mtok,…")
    if not set(header) & set(PRICE_KEYS):
        problems.append(f"there is no price column.\n  Prices are {', '.join(PRICE_KEYS)}.")
    return problems


def _read_row(header: list[str], cells: list[str]) -> tuple[PriceOverride | None, list[str]]:
    if len(cells) != len(header):
        return None, [f"{counted(len(cells), 'cell')} under {counted(len(header), 'column')}."]
    row = dict(zip(header, cells, strict=True))
    faults: list[str] = []
    if row["model"] == "":
        faults.append("`model` is empty.")
    valid_from = None
    if row.get("valid_from"):
        try:
            valid_from = dt.date.fromisoformat(row["valid_from"])
        except ValueError:
            faults.append(f"valid_from `{row['valid_from']}` is no day.\n  Write it as 2026-01-31.")
    prices: dict[str, float] = {}
    for key in PRICE_KEYS:
        if not row.get(key):
            continue
        price = _price(row[key])
        if price is None:
            faults.append(f"{key} `{row[key]}` is no price.\n  Write a finite number of USD, 0 or more, such as 2.50.")
        else:
            prices[key] = price
    if not prices and not faults:
        faults.append("the row has no price.\n  Write 0 for a model that costs nothing.")
    faults += [
        f"{part} needs {whole}, which contains it."
        for part, whole in _CONTAINED_IN.items()
        if part in prices and whole not in prices and not row.get(whole)
    ]
    if faults:
        return None, faults
    provider = row.get("provider", "").lower()
    return PriceOverride(provider or None, row["model"].lower(), valid_from, prices), []


def _price(text: str) -> float | None:
    try:
        price = float(text)
    except ValueError:
        return None
    return price if math.isfinite(price) and price >= 0 else None
