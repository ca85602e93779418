"""Ctrl-C ends the query that Enter began, whenever it comes: no moment between the two loses it."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("pexpect")

from pseudo_terminal import ACCEPTED, Terminal

ENDLESS = "select count(*) from range(100000000000) as a, range(100000) as b where a.range % 7 = b.range;"
TIMEOUT_S = 60
SOON_S = 10.0
CTRL_C = "\x03"

# The moment at which the prompt has given the terminal back, and its event loop still has the signal.
WHILE_CLOSING = """
import os, signal
from prompt_toolkit.application import Application
closing = Application.cancel_and_wait_for_background_tasks
async def interrupted(self):
    if self.current_buffer.text.endswith("b.range;"):
        os.kill(os.getpid(), signal.SIGINT)
    await closing(self)
Application.cancel_and_wait_for_background_tasks = interrupted
"""

# The moment at which the line is done, and the terminal still gives keys, no signals: so long that a key comes in it.
BEFORE_CLOSING = """
import time
from prompt_toolkit.application import Application
redraw = Application._redraw
def slow(self, render_as_done=False):
    redraw(self, render_as_done=render_as_done)
    if render_as_done:
        time.sleep(1.0)
Application._redraw = slow
"""


def opened(store: Path, home: Path, before: str = "") -> Terminal:
    terminal = Terminal(store, home, before=before, timeout_s=TIMEOUT_S)
    terminal.listen()
    return terminal


def check_ended(terminal: Terminal, began: float) -> None:
    """The prompt is back, long before the query would have ended, and answers what is asked next."""
    terminal.listen()
    took = time.monotonic() - began
    shown = terminal.ask("select 40 + 2 as answer;")

    assert took < SOON_S
    assert "1 row" in shown
    assert "42" in shown


def test_a_key_that_came_with_enter_ends_the_query(terminal: Terminal) -> None:
    began = time.monotonic()
    terminal.child.send(ENDLESS + "\r" + CTRL_C)

    check_ended(terminal, began)


@pytest.mark.slow
def test_a_signal_while_the_prompt_closes_ends_the_query(store: Path, tmp_path: Path) -> None:
    terminal = opened(store, tmp_path, WHILE_CLOSING)
    began = time.monotonic()
    terminal.type(ENDLESS)

    check_ended(terminal, began)


@pytest.mark.slow
def test_a_key_while_the_prompt_closes_ends_the_query_and_later_keys_are_for_the_next(
    store: Path, tmp_path: Path
) -> None:
    terminal = opened(store, tmp_path, BEFORE_CLOSING)
    began = time.monotonic()
    terminal.type(ENDLESS)
    terminal.expect(ACCEPTED)
    terminal.child.send(CTRL_C + "select 6 * 7 as answer;\r")
    terminal.listen()
    took = time.monotonic() - began

    assert took < SOON_S
    assert "42" in terminal.listen()


@pytest.mark.slow
def test_a_signal_at_the_prompt_drops_the_line_and_ends_nothing(terminal: Terminal) -> None:
    for _ in range(3):
        terminal.child.send("zebra")
        terminal.expect("zebra")
        terminal.child.kill(signal.SIGINT)
        terminal.listen()

    assert "42" in terminal.ask("select 6 * 7 as answer;")


@pytest.mark.slow
def test_at_any_moment_it_ends_the_query(terminal: Terminal) -> None:
    for delay_ms in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233):
        terminal.type(ENDLESS)
        began = time.monotonic()
        time.sleep(delay_ms / 1000)
        terminal.child.send(CTRL_C)

        check_ended(terminal, began)
