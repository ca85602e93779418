"""What the environment says of memory and threads."""

from __future__ import annotations

import pytest

from spanscore.errors import UsageError
from spanscore.store.connection import (
    default_contained_memory_bytes,
    default_memory_bytes,
    default_memory_limit,
    default_threads,
)


@pytest.mark.parametrize(("text", "size"), [("2GiB", 2 << 30), ("1.5 GB", 1_500_000_000), ("64mib", 64 << 20)])
def test_the_memory_limit_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", text)

    assert default_memory_bytes() == size
    assert default_memory_limit() == f"{size >> 20}MiB"


@pytest.mark.parametrize("text", ["lots", "-1GiB", "5"])
def test_a_memory_limit_that_is_no_size_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", text)
    with pytest.raises(UsageError, match="SPANSCORE_MEMORY_LIMIT"):
        default_memory_limit()


@pytest.mark.parametrize("text", ["0", "two", "-1", "²"])
def test_threads_that_are_no_number_are_a_usage_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SPANSCORE_THREADS", text)
    with pytest.raises(UsageError, match="SPANSCORE_THREADS"):
        default_threads()


def test_a_query_of_a_user_has_a_gibibyte_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANSCORE_MEMORY_LIMIT", raising=False)
    assert default_contained_memory_bytes() <= 1 << 30

    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", "3GiB")
    assert default_contained_memory_bytes() == 3 << 30
