"""Posts over HTTP and tries again: what every message and every score leaves by."""

from __future__ import annotations

import http.client
import random
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from spanscore import __version__
from spanscore.addresses import read_address
from spanscore.errors import DeliveryFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ATTEMPTS = 3
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
# What OTLP calls retryable, and what says the same of a webhook.
_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_MOST_ANSWER_BYTES = 1 << 20


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirected POST would arrive as a GET without its body, and an authorization at another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follows nothing: the answer becomes an error."""


_ANSWERED = "it answered"
_OPENER = urllib.request.build_opener(_NoRedirects)


def post(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    timeout_s: float,
    sleep: Callable[[float], None] = time.sleep,
) -> bytes:
    """What the receiver answers to `body`.

    Up to three attempts, with pauses that double, unless the receiver says how long to wait. Certificates of https are
    verified. Nothing is redirected.

    Args:
        url: http or https; a user and password in it are sent as Basic authorization.
        body: to post.
        headers: of the request.
        timeout_s: of each attempt [s].
        sleep: how to pause.

    Raises:
        DeliveryFailed: it did not arrive, or was refused. The message never holds more of the URL than the host.
    """
    try:
        address = read_address(url, called="The address")
    except UsageError as error:
        raise DeliveryFailed(str(error)) from None
    pause, problem = _FIRST_PAUSE_S, ""
    for attempt in range(1, ATTEMPTS + 1):
        wanted_s = None
        request = urllib.request.Request(  # noqa: S310 the scheme is checked above
            address.url,
            data=body,
            headers={"User-Agent": f"spanscore/{__version__}", **address.headers, **headers},
            method="POST",
        )
        try:
            with _OPENER.open(request, timeout=timeout_s) as answer:
                return bytes(answer.read(_MOST_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            problem = f"{_ANSWERED} {error.code} {error.reason}"
            wanted_s = _retry_after(error.headers.get("Retry-After"))
            error.close()
            if error.code not in _TRY_AGAIN:
                raise DeliveryFailed(f"{address.shown} refused it: {problem}.", is_final=True) from None
        except urllib.error.URLError as error:
            problem = str(error.reason)
        except (OSError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
        if attempt < ATTEMPTS:
            sleep(min(_LONGEST_PAUSE_S, wanted_s if wanted_s is not None else pause * random.uniform(0.5, 1)))  # noqa: S311
            pause *= 2
    what = "did not take it" if problem.startswith(_ANSWERED) else "could not be reached"
    raise DeliveryFailed(f"{address.shown} {what} in {ATTEMPTS} attempts: {problem}.")


def _retry_after(value: str | None) -> float | None:
    return float(value) if value is not None and value.strip().isdigit() else None
