"""The files that a list of paths, folders and globs stands for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from spanscore.errors import InputError

STDIN = "-"
FILE_SUFFIXES = (".json", ".jsonl", ".ndjson", ".pb", ".bin", ".otlp", ".proto")
COMPRESSION_SUFFIXES = (".gz", ".zst")


@dataclass(frozen=True)
class InputFile:
    """One file to read.

    Attributes:
        path: as shown to the user; "-" is standard input.
        size: bytes as stored, None when it is not known beforehand.
    """

    path: str
    size: int | None


def expand_paths(paths: Iterable[str | os.PathLike[str]]) -> list[InputFile]:
    """Each file once, in the order given, those of a folder or glob by name.

    A folder stands for all files below it whose name ends like telemetry; hidden ones are left out.

    Raises:
        InputError: a path does not exist, or cannot be read.
    """
    files: dict[str, InputFile] = {}
    for given in paths:
        for path in _existing(os.fspath(given)):
            if path == STDIN:
                files.setdefault(STDIN, InputFile(STDIN, None))
                continue
            for file in _telemetry_below(Path(path)) if Path(path).is_dir() else [Path(path)]:
                files.setdefault(str(file.resolve()), _readable(file))
    return list(files.values())


def _existing(given: str) -> list[str]:
    if given == STDIN or Path(given).exists():
        return [given]
    found = sorted(glob(given, recursive=True)) if has_magic(given) else []  # noqa: PTH207 - absolute patterns too
    if not found:
        what = "no file matches" if has_magic(given) else "there is no file or folder"
        raise InputError(f"{what} `{given}`. Check the path.")
    return found


def _telemetry_below(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"cannot read the folder `{error.filename}`: {error.strerror}.")

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and _is_telemetry(name) and path.is_file():
                yield path


def _is_telemetry(name: str) -> bool:
    stem = name.lower()
    for suffix in COMPRESSION_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem.endswith(FILE_SUFFIXES)


def _readable(path: Path) -> InputFile:
    if not os.access(path, os.R_OK):
        raise InputError(f"cannot read `{path}`: permission denied. Grant read access to it.")
    return InputFile(str(path), path.stat().st_size if path.is_file() else None)
