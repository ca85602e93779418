"""An agent behind an HTTP endpoint."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from spanscore.addresses import read_address
from spanscore.bench.agents.agent import LONGEST_ANSWER, answer_text, within
from spanscore.bench.trial import Ending, Outcome

if TYPE_CHECKING:
    from spanscore.bench.suites import Case
    from spanscore.bench.trial import TrialContext

_CANNOT_WORK_NOW = frozenset({429, 502, 503, 504})
_LONGEST_RESPONSE = 4 * LONGEST_ANSWER


class EndpointAgent:
    """Posts `{"input": …}` to a URL; the answer is the text of the response, or the part of its JSON that holds it."""

    # Servers export in batches, by default every 5 s.
    settle_s = 10.0

    def __init__(self, url: str) -> None:
        """Args: url: http or https; a user and password in it are sent as Basic authorization."""
        self._address = read_address(url, called="--url")
        # Stored and printed.
        self.description = self._address.url
        # What the trace is told of goes to the agent and to no proxy between.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def open(self, endpoint: str) -> None:
        """Nothing: the agent runs already, and its exporter has been told where to send."""

    def ask(self, case: Case, context: TrialContext, *, timeout_s: float) -> Outcome:
        """Posts once."""
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._address.url,
            data=json.dumps({"input": case.input}).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/plain",
                **self._address.headers,
                **context.headers,
            },
            method="POST",
        )
        # The limit of the socket is for each read; `within` is for the whole.
        return within(timeout_s, lambda: self._post(request, timeout_s))

    def _post(self, request: urllib.request.Request, timeout_s: float) -> Outcome:
        try:
            with self._opener.open(request, timeout=timeout_s) as response:
                content = response.read(_LONGEST_RESPONSE)
                return Outcome(Ending.OK, _answer(content, response.headers.get_content_type()))
        except urllib.error.HTTPError as error:
            ending = Ending.INFRASTRUCTURE if error.code in _CANNOT_WORK_NOW else Ending.ERROR
            text = error.read(2000).decode("utf-8", "replace").strip()
            return Outcome(ending, None, f"http_{error.code}", text or str(error.reason) or None)
        except TimeoutError:
            # Left to `within`, whose limit is the same: the two cannot disagree on what a timeout is.
            return Outcome(Ending.TIMEOUT, None, "timeout", f"no answer within {timeout_s:g} s")
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                return Outcome(Ending.TIMEOUT, None, "timeout", f"no answer within {timeout_s:g} s")
            return Outcome(Ending.INFRASTRUCTURE, None, "cannot_connect", str(error.reason))
        except (ConnectionError, http.client.HTTPException) as error:
            return Outcome(Ending.INFRASTRUCTURE, None, "connection_lost", f"{type(error).__name__}: {error}")

    def flush(self) -> None:
        """Nothing: when a server exports is its own affair."""

    def close(self) -> None:
        """Nothing is left open."""


def _answer(content: bytes, content_type: str) -> str | None:
    text = content.decode("utf-8", "replace").strip()
    if content_type == "application/json" or content_type.endswith("+json"):
        try:
            return answer_text(json.loads(text))
        except ValueError:
            pass
    return answer_text(text) if text else None
