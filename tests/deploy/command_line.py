"""The spanscore commands that a text contains, and whether spanscore understands them, without running anything."""

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping

import typer

from spanscore.cli import app

ASSIGNMENT = re.compile(r"\w+=")
OPERATOR = re.compile(r"[();<>|&]+")
FENCE = re.compile(r"^ *```(?:sh|bash|console|shell)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)
# wrappers that run what follows their own words
WRAPPERS = {"docker", "flock", "sudo"}


def understood(words: list[str]) -> typer.Context:
    """The words as the command line reads them; raises what it would say to somebody who typed them."""
    command, name = typer.main.get_command(app), "spanscore"
    while hasattr(command, "commands"):
        context = command.make_context(name, list(words), resilient_parsing=False)
        rest = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, rest)
    return command.make_context(name, list(words))


def lines_of(script: str) -> Iterator[str]:
    """The logical lines: those that end in a backslash, or inside quotes, go on."""
    pending = ""
    for line in script.replace("\\\n", " ").splitlines():
        pending = f"{pending}\n{line}" if pending else line
        try:
            shlex.split(pending, comments=True)
        except ValueError:
            continue
        yield pending
        pending = ""


def is_spanscore(word: str) -> bool:
    return word == "spanscore" or word.endswith("/bin/spanscore")


def words_of(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def commands_in(script: str, values: Mapping[str, str] | None = None) -> Iterator[list[str]]:
    """The words after `spanscore` of every such command of a shell script, with variables filled in."""
    for line in lines_of(script):
        for is_operator, group in itertools.groupby(words_of(line), lambda word: OPERATOR.fullmatch(word) is not None):
            words = [] if is_operator else list(itertools.dropwhile(ASSIGNMENT.match, group))
            if words and words[0] in WRAPPERS:
                words = words[max((n for n, word in enumerate(words) if is_spanscore(word)), default=0) :]
            if words and is_spanscore(words[0]):
                yield [re.sub(r"\$(\w+)", lambda match: (values or {})[match[1]], word) for word in words[1:]]


def commands_of_page(markdown: str) -> Iterator[list[str]]:
    """The commands in the shell examples of a page."""
    for block in FENCE.findall(markdown):
        yield from commands_in(block)
    for block in INDENTED.findall(re.sub(r"^ *```.*?^ *```", "", markdown, flags=re.MULTILINE | re.DOTALL)):
        if "spanscore " in block:
            yield from commands_in("\n".join(line[4:] for line in block.splitlines()))


INLINE = re.compile(r"`spanscore ([^`]+)`")


def mentioned_in(markdown: str) -> Iterator[list[str]]:
    """The words of the commands that running text mentions."""
    for mention in INLINE.findall(re.sub(r"^ *```.*?^ *```", "", markdown, flags=re.MULTILINE | re.DOTALL)):
        yield mention.split()


def unknown_in(words: list[str]) -> list[str]:
    """What of a mentioned command does not exist: a mention may leave out arguments, and say `a|b` for two commands."""
    first, *rest = words
    if "|" in first:
        return [unknown for name in first.split("|") for unknown in unknown_in([name, *rest])]
    commands = [typer.main.get_command(app)]
    rest = list(words)
    while rest and hasattr(commands[-1], "commands"):
        names = rest[0].split("|")
        found = [commands[-1].commands.get(name) for name in names]
        if rest[0].startswith("-"):
            break
        if None in found:
            return [rest[0]]
        commands.append(found[0])
        rest = rest[1:]
    options = {option for parameter in commands[-1].params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in rest if word.startswith("--") and word.partition("=")[0] not in {*options, "--help"}]
