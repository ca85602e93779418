"""Finds evaluators: those that come with spanscore, `./evals/*.sql`, and folders that the settings or the user name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid, UsageError
from spanscore.evaluate.header import OWN, Evaluator, read_evaluator
from spanscore.settings import NAME, Settings, likely, read_settings
from spanscore.store.queries import queries_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

QUESTIONS = ("trace_quality", "groundedness", "outcome", "tools", "agents", "efficiency", "reliability")
"""Folders of the catalogue, in the order of reports: trace quality says whether the rest can be believed."""

OWN_FOLDER = "evals"
_OF_ONE = ("params",)


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """An evaluator file that cannot be used, and everything that is wrong with it."""

    path: Path
    question: str
    problems: tuple[str, ...]

    @property
    def id(self) -> str:
        """What it would be called."""
        return self.path.stem


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Evaluators in the order of reports, and files that are none although they should be."""

    evaluators: tuple[Evaluator, ...] = ()
    broken: tuple[BrokenFile, ...] = ()
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parameters that the settings give, by evaluator."""
    is_selection: bool = False
    """Whether there are evaluators that were left out."""

    def named(self, name: str) -> Evaluator:
        """The evaluator with the id `name`.

        Raises:
            EvaluatorInvalid: its file is broken.
            UsageError: there is none.
        """
        for evaluator in self.evaluators:
            if evaluator.id == name:
                return evaluator
        for broken in self.broken:
            if broken.id == name:
                raise EvaluatorInvalid(broken.problems)
        raise UsageError(f"There is no evaluator `{name}`.\n  `spanscore evaluators list` names them all.")

    def bound(self, chosen: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """What the parameters of every evaluator are bound to: defaults, then the settings, then `chosen`.

        Raises:
            EvaluatorInvalid: a value has the wrong type, or a name is unknown.
        """
        values: dict[str, dict[str, Any]] = {}
        problems: list[str] = []
        for evaluator in self.evaluators:
            try:
                values[evaluator.id] = evaluator.bound(
                    {**self.params.get(evaluator.id, {}), **chosen.get(evaluator.id, {})}
                )
            except EvaluatorInvalid as error:
                problems.extend(error.problems)
        if problems:
            raise EvaluatorInvalid(problems)
        return values


def find_evaluators(folder: Path, *, selection: Sequence[str] = ()) -> Catalogue:
    """The evaluators that a user in `folder` has, or of them those in `selection`.

    Args:
        folder: where `evals/` and `spanscore.toml` are looked for.
        selection: ids, questions (such as `tools`), `.sql` files and folders; empty = all.

    Raises:
        UsageError: an id stands in two files; something in `selection` does not exist; the settings are wrong.
    """
    settings = read_settings(folder / NAME) or Settings(folder / NAME, {})
    paths = [folder / path for path in _paths(settings)]
    missing = [path for path in paths if not path.exists()]
    if missing:
        place = settings.place("evaluators", "paths")
        raise UsageError(f"{place}: the folder `{missing[0]}` of [evaluators] paths does not exist.")
    named = [Path(word) for word in selection if _is_path(word)]
    for path in named:
        if not path.exists():
            raise UsageError(f"`{path}` does not exist: it should be an evaluator file or a folder of them.")
    shipped = shipped_catalogue()
    own = read_files(own_files([folder / OWN_FOLDER, *paths, *named]))
    evaluators = _without_overridden(shipped.evaluators, own.evaluators)
    broken = (*shipped.broken, *own.broken)
    catalogue = Catalogue(evaluators, broken, _params(settings, evaluators, broken))
    return _selected(catalogue, selection) if selection else catalogue


def shipped_catalogue() -> Catalogue:
    """The evaluators that come with spanscore."""
    root = queries_root() / "evaluators"
    files = [(path, path.parent.name) for path in root.glob("*/*.sql")]
    order = {question: number for number, question in enumerate(QUESTIONS)}
    files.sort(key=lambda file: (order.get(file[1], len(order)), file[0].name))
    return read_files(files)


def read_files(files: Iterable[tuple[Path, str]]) -> Catalogue:
    """The evaluators in `files`, given as path and question."""
    evaluators, broken = [], []
    for path, question in files:
        try:
            evaluators.append(read_evaluator(path, question=question))
        except EvaluatorInvalid as error:
            broken.append(BrokenFile(path, question, error.problems))
    return Catalogue(tuple(evaluators), tuple(broken))


def own_files(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Path and question of the evaluator files of the user in `paths`, files or folders, each once."""
    shipped = (queries_root() / "evaluators").resolve()
    found: dict[Path, tuple[Path, str]] = {}
    for path in paths:
        # No deeper: a folder may hold an environment with other people's SQL.
        for file in sorted([*path.glob("*.sql"), *path.glob("*/*.sql")]) if path.is_dir() else [path]:
            place = file.resolve()
            if file.is_file() and not place.is_relative_to(shipped):
                found.setdefault(place, (file, OWN))
    return list(found.values())


def _is_path(word: str) -> bool:
    if word in QUESTIONS:
        return False
    return word.endswith(".sql") or "/" in word or word in (".", "..") or Path(word).is_dir()


def _without_overridden(shipped: Sequence[Evaluator], own: Sequence[Evaluator]) -> tuple[Evaluator, ...]:
    by_id: dict[str, Evaluator] = {}
    for evaluator in (*shipped, *own):
        earlier = by_id.get(evaluator.id)
        if earlier is not None and evaluator.overrides is None:
            raise UsageError(
                f"The evaluator `{evaluator.id}` stands in two files: `{earlier.path}` and `{evaluator.path}`.\n"
                f'  Rename one, or write  overrides = "{evaluator.id}"  in the header of the one that shall win.'
            )
        by_id[evaluator.id] = evaluator
    return tuple(by_id.values())


def _selected(catalogue: Catalogue, selection: Sequence[str]) -> Catalogue:
    places = [Path(word).resolve() for word in selection if _is_path(word)]
    words = {word for word in selection if not _is_path(word)}
    everything: list[Evaluator | BrokenFile] = [*catalogue.evaluators, *catalogue.broken]
    known = {one.id for one in everything} | {one.question for one in everything}
    unknown = sorted(words - known)
    if unknown:
        raise UsageError(
            f"There is no evaluator `{unknown[0]}`.\n"
            "  Name ids, questions, files or folders; `spanscore evaluators list` names the evaluators."
        )

    def is_wanted(one: Evaluator | BrokenFile) -> bool:
        path = one.path.resolve()
        return one.id in words or one.question in words or any(path.is_relative_to(place) for place in places)

    return Catalogue(
        tuple(filter(is_wanted, catalogue.evaluators)),
        tuple(filter(is_wanted, catalogue.broken)),
        catalogue.params,
        is_selection=True,
    )


def _paths(settings: Settings) -> list[str]:
    """Folders of evaluators that the settings name."""
    table = settings.tables.get("evaluators", {})
    if not isinstance(table, dict):
        raise UsageError(f"{settings.place('evaluators')}: `evaluators` must be a table: [evaluators].")
    paths = table.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
        place = settings.place("evaluators", "paths")
        raise UsageError(f'{place}: `paths` of [evaluators] must be a list of folders: paths = ["evals"].')
    return paths


def _params(
    settings: Settings, evaluators: Sequence[Evaluator], broken: Sequence[BrokenFile]
) -> dict[str, Mapping[str, Any]]:
    """What the settings give to parameters, by evaluator.

    Raises:
        UsageError: an evaluator, a key or a parameter does not exist, or a value has another type; all are named.
    """
    everything: list[Evaluator | BrokenFile] = [*broken, *evaluators]
    by_id = {one.id: one for one in everything}
    params: dict[str, Mapping[str, Any]] = {}
    problems: list[str] = []
    for name, fields in settings.tables.get("evaluators", {}).items():
        if name == "paths":
            continue
        table = f"evaluators.{name}"
        place = settings.place(table)
        if name not in by_id:
            meant = likely(name, ["paths", *by_id], otherwise="`spanscore evaluators list` names them all.")
            problems.append(f"{place}: [{table}]: there is no such evaluator.\n  {meant}")
            continue
        chosen = fields.get("params", {}) if isinstance(fields, dict) else None
        if not isinstance(chosen, dict):
            problems.append(f"{place}: [{table}] must be a table that may hold the table `params`.")
            continue
        for key in fields:
            if key not in _OF_ONE:
                where = settings.place(table, key)
                problems.append(f"{where}: `{key}` is no setting of [{table}].\n  {likely(key, _OF_ONE)}")
        one = by_id[name]
        if isinstance(one, Evaluator):
            try:
                one.bound(chosen)
            except EvaluatorInvalid as error:
                problems += [f"{settings.place(table, 'params')}: {problem}" for problem in error.problems]
        params[name] = chosen
    if problems:
        raise UsageError("\n".join(problems))
    return params
