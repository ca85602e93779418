"""`spanscore collect`: what was sent before it is stopped can be read afterwards."""

import json
import signal
import time
import urllib.error
import urllib.request

import pytest
from commands import CORPUS, run, start


def test_it_receives_until_it_is_stopped(tmp_path):
    store = tmp_path / "s"
    process = start("collect", "--store", store, "--grpc", "none", "--http", "127.0.0.1:0")
    try:
        address = _http_address(store, process)
        for line in (CORPUS / "openai-genai/ungrounded.jsonl").read_bytes().splitlines():
            posted = urllib.request.Request(
                f"http://{address}/v1/traces", data=line, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(posted, timeout=10) as answer:
                assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)

    assert process.returncode == 0, err
    assert out == b""
    assert str(store).encode() in err
    assert len(run("traces", "--store", store, "--format", "json").document) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--grpc", "none", "--http", "none"],
        ["--http", "nowhere"],
        ["--http", "127.0.0.1:99999"],
        ["--grpc", "0.0.0.0:0"],
        ["--token-file", "nowhere"],
        ["--tls-cert", "nowhere", "--tls-key", "nowhere"],
        ["--tls-client-ca", "nowhere"],
        ["--redact", "everything"],
    ],
    ids=" ".join,
)
def test_an_address_that_cannot_be_used_is_exit_2(tmp_path, words):
    ended = run("collect", "--store", tmp_path / "s", *words)

    assert ended.code == 2
    assert "Traceback" not in ended.err


def test_it_asks_for_tokens_and_leaves_content_out(tmp_path):
    store, tokens = tmp_path / "s", tmp_path / "tokens"
    tokens.write_text("t" * 40, encoding="utf-8")
    tokens.chmod(0o600)
    words = (
        "--grpc",
        "none",
        "--http",
        "0.0.0.0:0",
        "--token-file",
        tokens,
        "--insecure-plaintext",
        "--content",
        "drop",
    )
    process = start("collect", "--store", store, *words)
    statuses = []
    try:
        port = _http_address(store, process).rpartition(":")[2]
        line = (CORPUS / "openai-genai/ungrounded.jsonl").read_bytes().splitlines()[0]
        for token in ("x" * 40, "t" * 40):
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            posted = urllib.request.Request(f"http://127.0.0.1:{port}/v1/traces", data=line, headers=headers)
            try:
                with urllib.request.urlopen(posted, timeout=10) as answer:
                    statuses.append(answer.status)
            except urllib.error.HTTPError as error:
                statuses.append(error.code)
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    (trace,) = run("traces", "--store", store, "--format", "json").document

    assert statuses == [401, 200]
    assert b"plain text" in err
    assert (trace["question"], trace["final_answer"]) == (None, None)


def _http_address(store, process):
    status = store / "collector.json"
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        if status.exists():
            document = json.loads(status.read_text(encoding="utf-8"))
            if document["is_accepting"]:
                return document["http"]
        time.sleep(0.05)
    raise AssertionError("the collector did not start")
