"""Asks, answers, and asks again: one query after the other in one worker, which holds the store only to read it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from spanscore.errors import SpanscoreError, UsageError
from spanscore.evaluate.macros import macro_names, macros_used
from spanscore.report.result import write_parquet, write_result
from spanscore.report.terminal import console, error_console, plain
from spanscore.shell.completion import SqlCompleter, Words
from spanscore.store.contained.query import contained_arrow_query, contained_query
from spanscore.store.examples import example, examples

if TYPE_CHECKING:
    from prompt_toolkit.input import Input

    from spanscore.store.contained.process import Worker
    from spanscore.store.result import QueryResult

FORMS = ("table", "json", "csv")
_ROWS = 200
_FORM_OF_SUFFIX = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table"}
_COMMANDS = {
    ".tables": "the tables",
    ".schema": ".schema TABLE: its columns, with what they mean",
    ".examples": "saved queries and what they answer",
    ".example": ".example NAME: shows and runs one",
    ".format": f".format {'|'.join(FORMS)}: form of the rows",
    ".save": ".save FILE: rows of the last query into a .csv, .json, .parquet or .txt file, or the query into a .sql",
    ".help": "this",
    ".quit": "end (also Ctrl-D)",
}
_TABLES = """select table_name, estimated_size as rows, comment from duckdb_tables()
where database_name = 'spanscore' and not internal order by table_name"""
_SCHEMA = """select column_name, data_type, comment from duckdb_columns()
where database_name = 'spanscore' and table_name = '{}' order by column_index"""
_COLUMNS = """select table_name, list(column_name order by column_index) from duckdb_columns()
where database_name = 'spanscore' and not internal group by table_name order by table_name"""
_KEYWORDS = "select distinct keyword_name from duckdb_keywords() where keyword_category <> 'unreserved' order by 1"


class Shell:
    """One conversation with a store."""

    def __init__(self, store: Path, worker: Worker, *, timeout_s: float, form: str = "table") -> None:
        """`form` is that of the rows; `timeout_s` is how long one query may run [s]."""
        self.store, self.worker, self.timeout_s, self.form = store, worker, timeout_s, form
        self.last: str | None = None

    def run(self) -> None:
        """Until the user leaves.

        Raises:
            StoreError: the store cannot be read to begin with.
        """
        commands = {
            ".schema": list(words := self._columns()),
            ".example": [one.name for one in examples()],
            ".format": FORMS,
        }
        completer = SqlCompleter(
            Words(words, macro_names(), [row[0] for row in self._ask(_KEYWORDS).rows]),
            {command: commands.get(command, ()) for command in _COMMANDS},
        )
        session: PromptSession[str] = PromptSession(
            "sql> ",
            multiline=True,
            prompt_continuation="...> ",
            history=_history(),
            completer=completer,
            complete_while_typing=False,
            lexer=PygmentsLexer(SqlLexer),
            key_bindings=_bindings(),
        )
        console().print(plain("One SELECT, ended by a semicolon; .help lists the commands, Tab completes.", "dim"))
        while True:
            try:
                text = next_text(session)
                if text is None:
                    return
                if text:
                    self.answer(text)
            except KeyboardInterrupt:
                # At the prompt, or once more, when the query was over already.
                continue

    def answer(self, text: str) -> None:
        """A query or a command; what is wrong with it is told, and nothing is raised."""
        try:
            if text.startswith("."):
                self._command(*text.split(maxsplit=1))
            else:
                self.last = text
                self._show(text)
        except KeyboardInterrupt:
            # Whatever it was at: while it lives, it holds the store.
            self.worker.kill()
            error_console().print(plain("Cancelled.", "dim"))
        except SpanscoreError as error:
            error_console().print(plain(str(error), "red", keep_lines=True), soft_wrap=True)
        # After a query that was cancelled or too greedy there is no worker: the next query shall not wait for it.
        self.worker.start()

    def _command(self, command: str, argument: str = "") -> None:
        if command == ".help":
            for name, meaning in _COMMANDS.items():
                console().print(plain(f"{name:10} {meaning}"), soft_wrap=True)
        elif command == ".tables":
            self._show(_TABLES)
        elif command == ".schema":
            if re.fullmatch(r"\w+", argument) is None:
                raise UsageError("Which table? Write it as .schema runs.")
            self._show(_SCHEMA.format(argument.lower()))
        elif command == ".examples":
            for one in examples():
                console().print(plain(f"{one.name:30} {one.question}"), soft_wrap=True)
        elif command == ".example":
            self.last = example(argument).sql
            console().print(plain(self.last.rstrip(), "dim", keep_lines=True), soft_wrap=True)
            self._show(self.last)
        elif command == ".format":
            if argument not in FORMS:
                raise UsageError(f"There is no form `{argument}`.\n  There are: {', '.join(FORMS)}.")
            self.form = argument
        elif command == ".save":
            self._save(argument)
        else:
            raise UsageError(f"There is no command `{command}`.\n  .help lists them.")

    def _show(self, sql: str) -> None:
        write_result(self._ask(sql, limit=_ROWS), self.form, more=".save FILE")

    def _save(self, argument: str) -> None:
        path = Path(argument).expanduser()
        if self.last is None:
            raise UsageError("There is no query to save yet.")
        if path.suffix == ".sql":
            try:
                path.write_text(self.last + "\n", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"`{path}` cannot be written: {error.strerror}.") from error
        elif path.suffix == ".parquet":
            macros = macros_used(self.last)
            write_parquet(
                contained_arrow_query(self.worker, self.store, self.last, timeout_s=self.timeout_s, macros=macros),
                output=path,
            )
        elif path.suffix in _FORM_OF_SUFFIX:
            write_result(self._ask(self.last), _FORM_OF_SUFFIX[path.suffix], output=path)
        else:
            raise UsageError("Name a file that ends in .csv, .json, .parquet, .txt or .sql.")
        console().print(plain(f"Wrote {path}.", "dim"), soft_wrap=True)

    def _ask(self, sql: str, *, limit: int | None = None) -> QueryResult:
        return contained_query(
            self.worker, self.store, sql, timeout_s=self.timeout_s, limit=limit, macros=macros_used(sql)
        )

    def _columns(self) -> dict[str, list[str]]:
        return {row[0]: row[1] for row in self._ask(_COLUMNS).rows}


def next_text(session: PromptSession[str]) -> str | None:
    """What the user enters; empty where he takes it back with Ctrl-C right after Enter, None where he leaves.

    Raises:
        KeyboardInterrupt: Ctrl-C came to this process as a signal meanwhile.
    """
    try:
        # The signal is left to asyncio, which notices it until its loop is closed; the handler of the prompt would take
        # it for a key of a line that is done already.
        text = session.prompt(handle_sigint=False).strip()
    except EOFError:
        return None
    if _is_taken_back(session.input):
        error_console().print(plain("Cancelled.", "dim"))
        return ""
    return None if text == ".quit" else text


def _is_taken_back(keys_of: Input) -> bool:
    """Whether Ctrl-C is among the keys that came after Enter, while the terminal did not make signals of them yet."""
    keys = [*get_typeahead(keys_of), *keys_of.read_keys()]
    places = [place for place, press in enumerate(keys) if press.key == Keys.ControlC]
    # As where it is a signal: what was typed before it goes with it, and what comes after it is for the next prompt.
    store_typeahead(keys_of, keys[places[-1] + 1 :] if places else keys)
    return bool(places)


def _bindings() -> KeyBindings:
    """Enter ends a command and a query with a semicolon, and begins a new line of any other text."""
    bindings = KeyBindings()

    @bindings.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.text.strip()
        if not text or text.startswith(".") or text.endswith(";"):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return bindings


def _history() -> History:
    """What was asked before, in a file that nobody else reads: questions may quote what the agents were told."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "spanscore"
    path = folder / "sql_history"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
