"""A URL with a user and a password is good; who sends goes into a header, and nowhere else."""

import base64

import pytest

from spanscore.addresses import Address, digest_of, read_address
from spanscore.errors import UsageError


def decoded(authorization: str | None) -> str | None:
    if authorization is None:
        return None
    scheme, _, encoded = authorization.partition(" ")
    assert scheme == "Basic"
    return base64.b64decode(encoded).decode("utf-8")


@pytest.mark.parametrize(
    ("url", "plain", "shown", "who"),
    [
        ("https://example.org", "https://example.org", "https://example.org", None),
        ("http://h:8080/a/b?c=d", "http://h:8080/a/b?c=d", "http://h:8080", None),
        ("http://user:pw@h/hook", "http://h/hook", "http://h", "user:pw"),
        ("https://user:pw@h:8443/hook?x=1", "https://h:8443/hook?x=1", "https://h:8443", "user:pw"),
        ("https://u%40x:p%3Aw%2F%25@h/", "https://h/", "https://h", "u@x:p:w/%"),
        ("https://us%C3%A9r:p%C3%A4ss@h", "https://h", "https://h", "usér:päss"),
        ("https://key@h/x", "https://h/x", "https://h", "key:"),
        ("https://:pw@h/x", "https://h/x", "https://h", ":pw"),
        ("http://u:p@[::1]:4318/v1", "http://[::1]:4318/v1", "http://[::1]:4318", "u:p"),
        ("http://u:p@q@h", "http://h", "http://h", "u:p@q"),
    ],
)
def test_user_and_password_become_a_header(url: str, plain: str, shown: str, who: str | None) -> None:
    address = read_address(url, called="--emit")

    assert (address.url, address.shown, decoded(address.authorization)) == (plain, shown, who)
    assert (address.headers == {}) is (who is None)
    assert "Basic" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://user:hush@h",
        "http://",
        "http://user:hush@",
        "http://user:hu/sh@host/x",
        "http://user:hush#@host/x",
        "http://host:hush/x",
        "http://[hush/x",
        "hush@host",
        "",
    ],
)
def test_what_is_no_address_is_told_without_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_address(url, called="--emit")
    assert str(caught.value).startswith("--emit ")
    assert "hu" not in str(caught.value).replace("must", "")


NAMES = [
    ("http://h:4318/v1/logs", "http://h:4318/v1/logs"),
    ("https://user:hush@h/otlp/v1/logs?key=hush#hush", "https://h/otlp/v1/logs"),
    ("https://h/api/public/otel/v1/logs", "https://h/api/public/otel/v1/logs"),
    ("https://h/Default/v1beta1/17/", "https://h/Default/v1beta1/17/"),
    ("https://h/T04AB9/v1/logs", f"https://h/{digest_of('T04AB9')}/v1/logs"),
    ("https://h/a/abcdefghijklmnopqrstuvwxyz", f"https://h/a/{digest_of('abcdefghijklmnopqrstuvwxyz')}"),
    ("https://h/s3cr3t/%2F", f"https://h/{digest_of('s3cr3t')}/{digest_of('%2F')}"),
    ("https://h/12345/x=y", f"https://h/{digest_of('12345')}/{digest_of('x=y')}"),
    ("http://h", "http://h"),
]
"""URLs, and what of them may be stored and printed."""


@pytest.mark.parametrize(("url", "name"), NAMES)
def test_a_name_keeps_words_of_the_path_and_no_token(url: str, name: str) -> None:
    found = read_address(url, called="--emit").name

    assert found == name
    assert "hush" not in found
    assert Address(found).name == found
