"""Agents for the harness to ask: each in one way right or wrong. Imported by path, and run as programs too."""

import asyncio
import sys
import time

ASKED: list[str] = []


def plain(text: str) -> str:
    ASKED.append(text)
    return f"Paris, as to {text}"


async def awaited(text: str) -> str:
    await asyncio.sleep(0)
    return f"Paris, as to {text}"


def pieces(text: str):
    yield "Pa"
    yield "ris"


async def async_pieces(text: str):
    yield "Pa"
    yield "ris"


def with_context(text: str, case, context) -> dict[str, str]:
    return {"answer": f"{case.id} {context.trial} {context.variant} {context.budget.steps}"}


def failing(text: str) -> str:
    raise ValueError("no idea")


def exiting(text: str) -> str:
    sys.exit(3)


def timing_out(text: str) -> str:
    raise TimeoutError("the model is slow")


async def timing_out_async(text: str) -> str:
    raise TimeoutError("the model is slow")


def unreachable(text: str) -> str:
    raise ConnectionRefusedError("nobody there")


def endless(text: str) -> str:
    time.sleep(30)
    return "too late"


async def endless_async(text: str) -> str:
    await asyncio.sleep(30)
    return "too late"


def in_several_ways(text: str) -> str:
    if text == "fail":
        raise ValueError("no idea")
    if text == "sleep":
        time.sleep(30)
    raise ConnectionRefusedError(text)


class Bot:
    def ask(self, text: str) -> str:
        return "Paris"


bot = Bot()
no_callable = 7
