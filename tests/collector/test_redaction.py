"""Secrets do not reach the disk, and what is none stays as it was."""

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_up_secrets import clean_strings, secrets
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Privacy, Redact
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.redaction.redactor import Redactor
from spanscore.collector.redaction.rules import Rules
from spanscore.errors import DecodeError, StoreError

KEY = b"k" * 32
RULES = Rules(Privacy(), KEY)


def redact(text: str, privacy: Privacy | None = None) -> str:
    return (RULES if privacy is None else Rules(privacy, KEY)).redactor(Counter()).text(text)


def redact_all(texts: list[str]) -> list[str]:
    changed = RULES.redactor(Counter()).texts(texts)
    return [changed.get(place, text) for place, text in enumerate(texts)]


def in_json(text: str) -> str:
    """As one line of a message in an attribute that is JSON itself, as most content is."""
    return json.dumps([{"role": "user", "content": f"first line\n{text}\nlast line"}])


PLACES = {
    "alone": lambda text: text,
    "in a sentence": lambda text: f"Please use {text} for it.",
    "in JSON": in_json,
    "in JSON in JSON": lambda text: json.dumps({"messages": in_json(text)}),
}


def parts(secret: str) -> list[str]:
    """What must not be left of a secret: its lines, each as it is and as it stands in JSON."""
    lines = [line for line in secret.split("\n") if line and not line.startswith("-----")]
    return [*lines, *(json.dumps(line)[1:-1] for line in lines)]


@pytest.mark.parametrize("place", PLACES)
def test_at_least_99_of_100_secrets_are_found(place: str) -> None:
    made = [(PLACES[place](text), secret) for _, text, secret in secrets(500)]
    after = redact_all([text for text, _ in made])
    missed = [
        text for text, (_, secret) in zip(after, made, strict=True) if any(part in text for part in parts(secret))
    ]

    assert len(missed) <= 0.01 * len(made), missed[:5]


def test_at_most_one_of_200_clean_strings_is_changed() -> None:
    clean = clean_strings(5000)
    changed = [(text, after) for text, after in zip(clean, redact_all(clean), strict=True) if after != text]

    assert len(changed) <= 0.005 * len(clean), changed[:5]


def test_redacting_again_changes_nothing() -> None:
    once = redact_all([PLACES["in a sentence"](text) for _, text, _ in secrets(200)])

    assert redact_all(once) == once


def test_json_stays_json() -> None:
    for place in ("in JSON", "in JSON in JSON"):
        for text in redact_all([PLACES[place](text) for _, text, _ in secrets(200)]):
            json.loads(text)


def test_a_value_ends_where_its_string_ends() -> None:
    made = {"headers": ["Cookie: session=YWJjZGVm==", "Accept: a"], "password": 'x"y\\z', "token": "q7Jw2mLx9TzR4vBn=="}
    once = json.dumps(made)
    twice = json.dumps({"body": once, "n": 18.25})
    first, second = json.loads(redact(once)), json.loads(redact(twice))

    assert second["n"] == 18.25
    for found in (first, json.loads(second["body"])):
        assert found["headers"][1] == "Accept: a"
        assert found["headers"][0].startswith("Cookie: [REDACTED:cookie:")
        assert found["password"].startswith("[REDACTED:password:")
        assert found["token"].startswith("[REDACTED:secret:")


@pytest.mark.parametrize(
    "text",
    [
        "credentials: Optional[grpc.CallCredentials] = None",
        "password = enforce_bytes(auth[1])",
        "cookie: http.cookies.BaseCookie = http.cookies.SimpleCookie()",
        "cookies = load(jar)",
        "secret: ApplicationContextInitializerFactoryBean",
        "auth: basic",
    ],
)
def test_what_programs_say_about_secrets_stays(text: str) -> None:
    assert redact(text) == text


def test_equal_secrets_stay_equal_in_one_store_only() -> None:
    key = "ghp_" + "aB3" * 12
    one, two = redact(f"a {key}"), redact(f"b {key}")
    other = Rules(Privacy(), b"o" * 32).redactor(Counter()).text(f"a {key}")

    assert one[2:] == two[2:]
    assert one != other
    assert one.startswith("a [REDACTED:github_token:")


@pytest.mark.parametrize(
    "text",
    [
        "The gauge read 1,234.56 m at 2026-11-30T01:02:03Z; see https://example.org/a?b=1&page=2#c.",
        '{"input_tokens": 128, "max_tokens": 4096, "total": 18.25, "token": 7}',
        "password: must be at least 8 characters",
        "https://medium.com/@ada/why-not",
        "ada@example.org wrote to +49 30 1234567",
        "4111 1111 1111 1111",
    ],
)
def test_figures_dates_and_addresses_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to ada.lovelace@example.org, please", "email"),
        ("card 4111 1111 1111 1111.", "card"),
        ("IBAN DE89 3704 0044 0532 0130 00", "iban"),
        ("call +49 30 901820 now", "phone"),
        ("call (030) 901 820 now", "phone"),
    ],
)
def test_personal_data_is_replaced_where_wanted(text: str, kind: str) -> None:
    assert f"[REDACTED:{kind}:" in redact(text, Privacy(redact=Redact.PERSONAL))


@pytest.mark.parametrize("text", ["4111 1111 1111 1112", "DE88 3704 0044 0532 0130 00", "1544712660000000000", "18.25"])
def test_numbers_without_the_right_check_digits_stay(text: str) -> None:
    assert redact(text, Privacy(redact=Redact.PERSONAL)) == text


SECRET = "ghp_" + "aB3x" * 9
NOTHING = "nothing to see here"


def trace_request(secret: str) -> ExportTraceServiceRequest:
    """A request with a secret in every place that holds text."""
    request = ExportTraceServiceRequest()
    owner = request.resource_spans.add(schema_url=f"https://example.org/{secret}")
    owner.resource.attributes.add(key="process.command_args").value.array_value.values.add().string_value = secret
    owner.resource.attributes.add(key=f"key.{secret}").value.int_value = 1
    scope = owner.scope_spans.add(schema_url=f"https://example.org/{secret}")
    scope.scope.name = f"scope {secret}"
    scope.scope.version = secret
    scope.scope.attributes.add(key="a").value.string_value = secret
    span = scope.spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name=f"GET {secret}", trace_state=f"a={secret}")
    span.attributes.add(key="url.full").value.string_value = f"https://example.org/?k={secret}"
    nested = span.attributes.add(key="nested").value.kvlist_value.values.add(key="deep")
    nested.value.array_value.values.add().kvlist_value.values.add(key="er").value.string_value = secret
    span.attributes.add(key="bytes").value.bytes_value = secret.encode()
    event = span.events.add(name=f"exception {secret}")
    event.attributes.add(key="exception.message").value.string_value = f"401 for {secret}"
    span.links.add(trace_id=b"u" * 16, span_id=b"v" * 8, trace_state=f"b={secret}").attributes.add(
        key="l"
    ).value.string_value = secret
    span.status.message = f"refused: {secret}"
    span.attributes.add(key="n").value.double_value = 0.1
    return request


def logs_request(secret: str) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add().scope_logs.add()
    record = logs.log_records.add(time_unix_nano=1, severity_text=secret, event_name=f"e {secret}")
    record.body.kvlist_value.values.add(key="content").value.string_value = f"use {secret}"
    record.attributes.add(key="a").value.string_value = secret
    return request


def as_json(message: Any, kind: str) -> Any:
    """A message as OTLP/JSON, of which the official printer gives all but the ids."""
    from google.protobuf.json_format import MessageToDict

    def hexed(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                key: base64.b64decode(value).hex() if key in ("traceId", "spanId") else hexed(value)
                for key, value in node.items()
            }
        return [hexed(value) for value in node] if isinstance(node, list) else node

    return hexed(MessageToDict(message))


@pytest.fixture
def redactor(tmp_path: Path) -> Redactor:
    return Redactor(Privacy(), tmp_path, on_redact=lambda kinds: None)


@pytest.mark.parametrize("signal", Signal)
@pytest.mark.parametrize("encoding", Encoding)
def test_every_place_that_holds_text_is_looked_at(redactor: Redactor, signal: Signal, encoding: Encoding) -> None:
    make = trace_request if signal is Signal.TRACES else logs_request

    def written(secret: str) -> bytes:
        request = make(secret)
        return (
            request.SerializeToString() if encoding is Encoding.PROTOBUF else json.dumps(as_json(request, "")).encode()
        )

    before, plain = written(SECRET), written(NOTHING)
    after = redactor.clean(signal, encoding, before)

    assert before.count(SECRET.encode()) >= (4 if signal is Signal.LOGS else 14)
    assert SECRET.encode() not in after
    assert base64.b64encode(SECRET.encode()) not in after
    assert redactor.clean(signal, encoding, plain) is plain


def test_both_encodings_come_out_the_same(redactor: Redactor) -> None:
    request = trace_request(SECRET)
    binary = ExportTraceServiceRequest.FromString(
        redactor.clean(Signal.TRACES, Encoding.PROTOBUF, request.SerializeToString())
    )
    text = redactor.clean(Signal.TRACES, Encoding.JSON, json.dumps(as_json(request, "")).encode())

    assert json.loads(text) == as_json(binary, "")


@pytest.mark.parametrize(
    ("key", "value", "is_replaced"),
    [
        ("http.request.header.authorization", "Bearer abc", False),
        ("http.request.header.authorization", "Digest username=ada", True),
        ("http.request.header.cookie", "theme=dark", True),
        ("db.password", "sesame", True),
        ("OPENAI_API_KEY", "9f86d081884c7d659a2feaa0c55ad015", True),
        ("openai.apiKey", "9f86d081884c7d659a2feaa0c55ad015", True),
        ("aws.secretAccessKey", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", True),
        ("session.token", "5f2b9c1d8e7a4b3c6d0e", True),
        ("api_key", "env:OPENAI_API_KEY", False),
        ("api_key", "string", False),
        ("gen_ai.usage.input_tokens", "9f86d081884c7d659a2feaa0c55ad015", False),
        ("next_page_token", "9f86d081884c7d659a2feaa0c55ad015", False),
        ("token", "Hello", False),
        ("secret_santa", "Charles", False),
        ("gen_ai.conversation.id", "9f86d081884c7d659a2feaa0c55ad015", False),
    ],
)
def test_a_name_decides_together_with_its_value(redactor: Redactor, key: str, value: str, is_replaced: bool) -> None:
    request = trace_request(NOTHING)
    request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key=key).value.string_value = value
    before = request.SerializeToString()
    after = redactor.clean(Signal.TRACES, Encoding.PROTOBUF, before)

    assert (value.encode() not in after) == is_replaced


@pytest.mark.parametrize(
    "key",
    """
    password db.password PGPASSWORD DB_PASS smtp.pw passphrase api_key apiKey X-API-Key OPENAI_API_KEY access_token
    accessToken refresh-token token auth_token_value csrf.token client_secret SecretAccessKey private_key signingKey
    connectionString connection_string credentials http.request.header.authorization cookie set-cookie sentry.dsn
    bot_token session_key webhook_secret subscription-key sas_token
    """.split(),  # noqa: SIM905
)
def test_every_name_of_a_secret_makes_a_request_be_looked_at(key: str) -> None:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.attributes.add(key=key).value.string_value = "x"

    assert RULES.name(key) is not None
    assert RULES.scan.needs_look(request.SerializeToString(), is_json=False)
    assert RULES.scan.needs_look(json.dumps(as_json(request, "")).encode(), is_json=True)


def test_the_element_after_an_option_is_its_value(redactor: Redactor) -> None:
    request = trace_request(NOTHING)
    arguments = request.resource_spans[0].resource.attributes.add(key="process.command_args").value.array_value.values
    for word in ("agent", "--api-key", "q7Jw2mLx9TzR4vBn", "--verbose", "q7Jw2mLx9TzR4vBm"):
        arguments.add().string_value = word
    after = redactor.clean(Signal.TRACES, Encoding.PROTOBUF, request.SerializeToString())

    assert (b"q7Jw2mLx9TzR4vBn" in after, b"q7Jw2mLx9TzR4vBm" in after) == (False, True)


@pytest.mark.parametrize("hidden", [SECRET.replace("g", "\\u0067", 1), "https:\\/\\/ada:pa55w0rd@example.org"])
def test_an_escape_hides_nothing_in_json(redactor: Redactor, hidden: str) -> None:
    document = json.dumps(as_json(trace_request(NOTHING), "")).replace("GET nothing", f"GET {hidden}").encode()
    after = redactor.clean(Signal.TRACES, Encoding.JSON, document)

    assert SECRET.encode() not in after
    assert b"pa55w0rd" not in after
    assert b"[REDACTED:" in after


def test_json_too_deep_to_be_looked_through_is_refused(redactor: Redactor) -> None:
    deep = b'{"resourceSpans":[],"unknown":' + b"[" * 1000 + b'"' + SECRET.encode() + b'"' + b"]" * 1000 + b"}"

    with pytest.raises(DecodeError, match="nested"):
        redactor.clean(Signal.TRACES, Encoding.JSON, deep)


def test_unknown_fields_do_not_carry_a_secret_along(redactor: Redactor) -> None:
    unknown = b"\xfa\x06" + bytes([len(SECRET)]) + SECRET.encode()  # field 111 of the request
    before = trace_request(SECRET).SerializeToString() + unknown

    assert SECRET.encode() not in redactor.clean(Signal.TRACES, Encoding.PROTOBUF, before)


def test_keys_can_be_named_to_be_replaced_or_kept(tmp_path: Path) -> None:
    privacy = Privacy(redact_keys=("user.*", "n"), keep_keys=("url.full",))
    counts: Counter[str] = Counter()
    redactor = Redactor(privacy, tmp_path, on_redact=counts.update)
    request = trace_request(NOTHING)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="user.name").value.string_value = "Ada"
    span.attributes[0].value.string_value = SECRET
    after = ExportTraceServiceRequest.FromString(
        redactor.clean(Signal.TRACES, Encoding.PROTOBUF, request.SerializeToString())
    )
    values = {one.key: one.value for one in after.resource_spans[0].scope_spans[0].spans[0].attributes}

    assert values["url.full"].string_value == SECRET
    assert values["user.name"].string_value.startswith("[REDACTED:attribute:")
    assert values["n"].string_value.startswith("[REDACTED:attribute:")
    assert counts == {"attribute": 2}


def test_nothing_is_touched_where_redaction_is_off(tmp_path: Path) -> None:
    before = trace_request(SECRET).SerializeToString()
    redactor = Redactor(Privacy(redact=Redact.NONE), tmp_path, on_redact=lambda kinds: None)

    assert redactor.clean(Signal.TRACES, Encoding.PROTOBUF, before) is before
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    for _ in range(2):
        Redactor(Privacy(), tmp_path, on_redact=lambda kinds: None)
    key = tmp_path / "redaction.key"

    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["redaction.key"]

    key.write_bytes(b"short")
    with pytest.raises(StoreError, match=r"redaction\.key"):
        Redactor(Privacy(), tmp_path, on_redact=lambda kinds: None)


@pytest.mark.parametrize(
    "text",
    [
        "\\" * 200_000,
        "a@" * 50_000,
        "://" * 70_000,
        "password=" * 6_000,
        "eyJ" * 70_000,
        "mysql -p" * 25_000,
        "curl -u a " * 20_000,
        "sshpass " * 25_000 + "-p",
        "curl " + " -u a:" * 30_000,
        "identified by '" * 13_000,
        "create user x password '" * 8_000,
        "IDENTIFIED WITH " + "a" * 200_000,
        "--a" * 70_000 + "-token ",
    ],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    import time

    privacy = Privacy(redact=Redact.PERSONAL)
    started = time.process_time()
    redact(text, privacy)

    # Quadratic work would take minutes.
    assert time.process_time() - started < 20
