"""A model that follows a script, in the place of one that costs money: the same messages and seed, the same reply.

It has the weaknesses of a real one, at fixed places: with some seeds it uses a tool where none is needed, or answers a
question that has no answer.
"""

from dataclasses import dataclass, field
from typing import Any

UNKNOWN = "I could not verify this: the sources were unavailable."


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: a tool call, or an answer."""

    text: str = ""
    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)


def reply(question: str, results: list[Any], seed: int) -> Reply:
    """The next move of the model.

    Args:
        question: what the user asked.
        results: what the tools it called gave back, in order; None = the call failed for good.
        seed: of its sampling.
    """
    for beginning, script in _SCRIPTS.items():
        if question.startswith(beginning):
            return script(results, seed)
    return Reply("I do not know.")


def _percent_of(results: list[Any], seed: int) -> Reply:
    del seed
    if not results:
        return Reply(tool="calculate", arguments={"expression": "4820000 * 15 / 100"})
    return Reply(UNKNOWN if results[0] is None else f"15% of 4,820,000 is {results[0]:,.0f}.")


def _growth(results: list[Any], seed: int) -> Reply:
    del seed
    if not results:
        return Reply(tool="calculate", arguments={"expression": "(1.45 - 1.12) / 1.12 * 100"})
    return Reply(UNKNOWN if results[0] is None else f"Revenue grew by {results[0]:.2f}%, from 1.12bn to 1.45bn.")


def _meal_kit(results: list[Any], seed: int) -> Reply:
    del seed
    if not results:
        return Reply(tool="wiki_lookup", arguments={"title": "meal kit"})
    return Reply(results[0] or UNKNOWN)


def _ceo(results: list[Any], seed: int) -> Reply:
    del seed
    if not results:
        return Reply(tool="search_web", arguments={"query": "hellofresh ceo"})
    if not results[0]:
        return Reply(UNKNOWN)
    return Reply(f"Dominik Richter is the chief executive of HelloFresh ({results[0][0]['url']}).")


def _capital(results: list[Any], seed: int) -> Reply:
    if seed % 3 == 2 and not results:
        return Reply(tool="wiki_lookup", arguments={"title": "france"})
    return Reply("The capital of France is Paris.")


def _future(results: list[Any], seed: int) -> Reply:
    if seed % 3 == 1 and not results:
        return Reply(tool="search_web", arguments={"query": "gousto revenue"})
    return Reply("That cannot be known: 2031 has not happened, and any figure would be a forecast.")


def _market(results: list[Any], seed: int) -> Reply:
    del seed
    if not results:
        return Reply(tool="search_web", arguments={"query": "uk meal-kit market size"})
    if not results[0]:
        # Nothing found: a person would try once more.
        if len(results) == 1:
            return Reply(tool="search_web", arguments={"query": "uk meal-kit market size"})
        if not results[1]:
            return Reply(UNKNOWN)
    first, second = results[-1][:2]
    return Reply(
        f"Sources disagree: 1.47 billion according to {first['url']}, and 1.62 billion according to {second['url']}, "
        "which counts boxes for one person too."
    )


def _larger(results: list[Any], seed: int) -> Reply:
    queries = ("hellofresh revenue", "gousto revenue")
    if len(results) < len(queries):
        return Reply(tool="search_web", arguments={"query": queries[len(results)]})
    if not results[0] or not results[1]:
        return Reply(UNKNOWN)
    if seed % 3 == 2:
        # Works it out in its head, and rounds where it should not.
        return Reply("HelloFresh's revenue of 7,661 million is about 2,400% larger than Gousto's 308.4 million.")
    if len(results) == len(queries):
        return Reply(tool="calculate", arguments={"expression": "(7661 - 308.4) / 308.4 * 100"})
    if results[2] is None:
        return Reply(UNKNOWN)
    return Reply(
        f"HelloFresh's revenue (7,661 million, {results[0][0]['url']}) is {results[2]:,.1f}% larger than Gousto's "
        f"(308.4 million, {results[1][0]['url']})."
    )


def _nonsense(results: list[Any], seed: int) -> Reply:
    if seed % 3 and not results:
        return Reply(tool="search_web", arguments={"query": "blorpington index"})
    return Reply("I am not aware of a Blorpington index; I could not find anything of that name.")


_SCRIPTS = {
    "What is 15%": _percent_of,
    "If revenue went": _growth,
    "What is a meal-kit": _meal_kit,
    "Who is the current CEO": _ceo,
    "What is the capital": _capital,
    "What will Gousto's": _future,
    "How large is the UK": _market,
    "How much larger": _larger,
    "What is the Blorpington": _nonsense,
}
