"""What is refused before it costs anything, and what waits for its turn."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanscore.collector import Collector, CollectorLimits, grpc_receiver, memory
from spanscore.collector.admission import Admission, Decoding
from spanscore.collector.config import CollectorConfig
from spanscore.otlp.footprint import json_footprint, protobuf_footprint

TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
MIB = 1 << 20


def test_large_requests_are_decoded_one_at_a_time() -> None:
    decoding = Decoding(1000 * MIB)
    assert decoding.begin(5 * MIB, 40 * MIB, time.monotonic() + 1)

    assert not decoding.begin(5 * MIB, 40 * MIB, time.monotonic() + 0.05)
    assert decoding.begin(MIB, 8 * MIB, time.monotonic() + 0.05)
    decoding.end(5 * MIB, 40 * MIB)
    assert decoding.begin(5 * MIB, 40 * MIB, time.monotonic() + 0.05)


def test_a_request_waits_until_there_is_memory_to_decode_it() -> None:
    decoding = Decoding(100 * MIB)
    assert decoding.begin(MIB, 80 * MIB, time.monotonic() + 1)
    began: list[float] = []

    def wait() -> None:
        assert decoding.begin(MIB, 30 * MIB, time.monotonic() + 5)
        began.append(time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.1)
    ended = time.monotonic()
    decoding.end(MIB, 80 * MIB)
    waiting.join()

    assert began[0] >= ended


def test_a_request_that_needs_more_than_there_is_is_decoded_alone() -> None:
    decoding = Decoding(100 * MIB)
    assert decoding.begin(MIB, 500 * MIB, time.monotonic() + 1)
    assert not decoding.begin(MIB, 1, time.monotonic() + 0.05)
    decoding.end(MIB, 500 * MIB)
    assert decoding.begin(MIB, 1, time.monotonic() + 0.05)
    assert not decoding.begin(MIB, 500 * MIB, time.monotonic() + 0.05)


def test_a_request_that_has_waited_too_long_is_refused_even_when_there_is_room() -> None:
    assert not Decoding(100 * MIB).begin(1, 1, time.monotonic() - 0.01)


def test_memory_close_to_the_limit_is_a_reason_to_refuse(tmp_path: Path) -> None:
    used = memory.resident_bytes()
    tight = CollectorConfig(store=tmp_path, limits=CollectorLimits(max_memory_bytes=used, min_free_bytes=0))
    wide = CollectorConfig(store=tmp_path, limits=CollectorLimits(max_memory_bytes=4 * used, min_free_bytes=0))

    refused = Admission(tight, waiting_bytes=lambda: 0).refusal()

    assert used > 10 * MIB
    assert refused is not None
    assert (refused.refusal.http_status, refused.retry_after_s) == (503, 5)
    assert "memory" in refused.message
    assert Admission(wide, waiting_bytes=lambda: 0).refusal() is None


def test_available_memory_is_that_of_the_machine_or_less() -> None:
    assert 64 * MIB < memory.available_bytes() < 1 << 50


@pytest.mark.parametrize(
    ("make", "unit"),
    [
        pytest.param(protobuf_footprint, b"\x0a\x00", id="empty resources"),
        pytest.param(protobuf_footprint, b"\x0a\x02\x12\x00", id="a scope in each"),
        pytest.param(protobuf_footprint, b"\x4a\x04\x0a\x02ab", id="a short attribute"),
        pytest.param(protobuf_footprint, b"\x12\x02\x18\x01", id="an integer"),
        pytest.param(json_footprint, b"{},{},", id="empty objects"),
        pytest.param(json_footprint, b"[],[],", id="empty lists"),
        pytest.param(json_footprint, b'{"key":"k","value":{"intValue":1}},', id="an attribute"),
        pytest.param(json_footprint, b"1,2,3,4,5,6,7,8,9,1,", id="numbers"),
    ],
)
def test_short_elements_are_counted(make: Callable[[bytes], Any], unit: bytes) -> None:
    assert 100_000 <= make(unit * 100_000).elements <= 300_000


@pytest.mark.parametrize("make", [protobuf_footprint, json_footprint])
def test_text_has_no_short_elements(make: Callable[[bytes], Any]) -> None:
    """Indented text, and JSON inside a JSON string, as model messages are full of."""
    text = (
        b'\\n\\t{\\"role\\": \\"tool\\", \\"content\\": {\\"rows\\": [[1.5, 2]], \\"at\\": \\"12:30\\"}}\n\tJan 2\n'
        * 10_000
    )

    footprint = make(b'"' + text + b'"')

    assert footprint.elements <= 20_000
    assert footprint.memory < 12 * len(text)


def test_a_table_in_a_text_has_no_elements() -> None:
    text = b"[1,2,3,4],[5,6,7,8]," * 500_000

    assert json_footprint(b'{"x":"' + text + b'"}').elements == 0
    assert json_footprint(b'{"x":[' + text + b"0]}").elements > 500_000


@pytest.fixture
def silent_calls(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Forty calls, more than there are threads, that never get to their message."""
    monkeypatch.setattr(grpc_receiver, "MESSAGE_WITHIN_S", 1.0)
    ended = threading.Event()

    def nothing() -> Iterator[bytes]:
        ended.wait()
        yield from ()

    with grpc.insecure_channel(collector.grpc_address) as channel:
        yield [channel.stream_unary(TRACE_EXPORT).future(nothing(), timeout=30) for _ in range(40)]
        ended.set()


def test_grpc_calls_that_never_send_their_request_keep_nobody_waiting(
    collector: Collector, traces: Callable[..., Any], silent_calls: list[Any]
) -> None:
    payload = traces(1).SerializeToString()
    with grpc.insecure_channel(collector.grpc_address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        assert channel.unary_unary(TRACE_EXPORT)(payload, timeout=5) == b""
    codes = {call.exception().code() for call in silent_calls}

    assert codes == {grpc.StatusCode.UNAVAILABLE}
