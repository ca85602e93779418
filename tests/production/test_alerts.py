"""An alert fires when the whole interval is beyond; it is told once per change, whatever the webhook does."""

from __future__ import annotations

import base64
import datetime as dt
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from passes import job, one_pass, query

from spanscore.errors import DeliveryFailed
from spanscore.evaluate import Catalogue
from spanscore.production.alerts import Verdict, judge_series
from spanscore.production.delivery import post
from spanscore.production.rules import Alerting, Change, Rule, Webhook
from spanscore.statistics import Estimate, Interval, share, unpaired_interval
from spanscore.store import Store

NOW = dt.datetime.fromisoformat("2026-03-01T12:00:00")


def rule(**changes: Any) -> Rule:
    plain: dict[str, Any] = {
        "name": "r",
        "metric": "run_error",
        "unit": "boolean",
        "figure": "mean",
        "window_s": 3600.0,
        "below": None,
        "above": None,
        "max_rise": None,
        "max_drop": None,
        "min_n": 20,
        "by": None,
        "severity": "warning",
        "service": None,
        "repeat_s": None,
        "place": "spanscore.toml:1",
    }
    return Rule(**{**plain, **changes})


def values(bad: int, n: int, sessions: int | None = None) -> list[tuple[str, float | None]]:
    """`n` runs of which the first `bad` are 1, alone or in that many sessions."""
    return [(str(i if sessions is None else i * sessions // n), float(i < bad)) for i in range(n)]


@pytest.mark.parametrize(
    ("what", "bad", "n", "verdict"),
    [
        (rule(above=0.1), 30, 100, Verdict.FIRING),
        (rule(above=0.1), 14, 100, Verdict.OK),  # the interval still reaches 0.1
        (rule(above=0.1), 0, 100, Verdict.OK),
        (rule(above=0.1), 10, 19, Verdict.UNDECIDABLE),
        (rule(above=0.1), 0, 0, Verdict.UNDECIDABLE),
        (rule(below=0.9), 70, 100, Verdict.FIRING),
        (rule(below=0.9), 86, 100, Verdict.OK),
    ],
)
def test_the_whole_interval_has_to_be_beyond_the_threshold(what: Rule, bad: int, n: int, verdict: Verdict) -> None:
    judged = judge_series(what, "", values(bad, n), None)

    assert judged.verdict is verdict
    assert judged.n == n


def test_runs_of_one_session_tell_less_than_as_many_sessions() -> None:
    assert judge_series(rule(above=0.1), "", values(22, 100), None).verdict is Verdict.FIRING
    clustered = judge_series(rule(above=0.1), "", values(22, 100, sessions=10), None)

    assert (clustered.verdict, clustered.clusters) == (Verdict.OK, 10)


@pytest.mark.parametrize(
    ("change", "before", "after", "verdict"),
    [
        (Change(0.05, is_relative=False), 5, 40, Verdict.FIRING),
        (Change(0.05, is_relative=False), 5, 12, Verdict.OK),
        (Change(0.5, is_relative=True), 20, 60, Verdict.FIRING),
        (Change(3.0, is_relative=True), 20, 60, Verdict.OK),
        (Change(0.0, is_relative=False), 5, 6, Verdict.OK),
    ],
)
def test_the_whole_interval_of_the_change_has_to_be_beyond(
    change: Change, before: int, after: int, verdict: Verdict
) -> None:
    judged = judge_series(rule(max_rise=change), "", values(after, 100), values(before, 100))
    mirrored = judge_series(rule(max_drop=change), "", values(100 - after, 100), values(100 - before, 100))

    assert judged.verdict is verdict
    if not change.is_relative:
        assert mirrored.verdict is verdict


def test_too_few_runs_before_are_undecidable() -> None:
    judged = judge_series(rule(max_rise=Change(0.1, is_relative=False)), "", values(90, 100), values(0, 5))

    assert (judged.verdict, judged.reason) == (
        Verdict.UNDECIDABLE,
        "5 values in the window before, and the rule needs 20",
    )


def test_costs_that_are_all_equal_have_no_interval_and_are_undecidable() -> None:
    same: list[tuple[str, float | None]] = [(str(i), 1.0) for i in range(50)]

    assert judge_series(rule(metric="cost", unit="usd", above=0.5), "", same, None).verdict is Verdict.UNDECIDABLE


def test_a_tail_is_a_percentile_with_an_order_statistic_interval() -> None:
    slow: list[tuple[str, float | None]] = [(str(i), float(i)) for i in range(1, 401)]
    judged = judge_series(rule(metric="latency_p95", unit="s", figure="p95", above=300.0), "", slow, None)

    assert (judged.value, judged.verdict) == (380.0, Verdict.FIRING)


def test_the_difference_of_two_shares_is_newcombes() -> None:
    """Newcombe 1998, table II, example (a): 56/70 against 48/80, method 10: 0.0524 to 0.3339."""
    before, after = (share([1.0] * k + [0.0] * (n - k), confidence=0.95) for k, n in ((48, 80), (56, 70)))
    found = unpaired_interval(before, after)

    assert found is not None
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5))


def test_an_open_end_leaves_the_difference_open() -> None:
    before = Estimate(2.0, Interval(1.0, None), "order_statistic", 9)
    after = Estimate(5.0, Interval(4.0, 6.0), "order_statistic", 9)
    found = unpaired_interval(before, after)

    assert found is not None
    assert (found.low, found.high) == (None, pytest.approx(3 + 2**0.5))
    assert unpaired_interval(Estimate(None, None, None, 0), after) is None


class Hook(HTTPServer):
    """A webhook that answers what it is told to and keeps what it got."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/secret-path"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Hook)
        code = self.server.answers.pop(0) if self.server.answers else 200
        if code == 200:
            self.server.got.append((dict(self.headers), json.loads(body)))
        self.send_response(code)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def failing(store: Path) -> Path:
    """A store with 60 runs of the last hour, half of which failed."""
    fill(store, failed=30)
    return store


def fill(store: Path, *, failed: int) -> None:
    with Store.open(store) as opened:
        opened.connection.execute("delete from runs")
        opened.connection.execute(
            """
            insert into runs (run_id, trace_id, source, service_name, status, started_at, duration_s, orphan_spans,
                fingerprint, llm_calls, tool_calls)
            select 'run' || i, 'run' || i, 'production', if(i % 2 = 0, 'shop', 'desk'), if(i < $failed, 'error', 'ok'),
                timestamp_ns '2026-03-01 11:30:00', 1.0 + i / 100, 0, 'f' || i || $failed, 1, 0
            from range(60) as t(i)
            """,
            {"failed": failed},
        )


def alerting(*rules: Rule, hook: Hook | None = None) -> Alerting:
    return Alerting(rules, None if hook is None else Webhook(url_env="HOOK", token_env="TOKEN", timeout_s=2))


def environ(hook: Hook) -> dict[str, str]:
    return {"HOOK": hook.url, "TOKEN": "hush"}


def test_a_change_is_told_once_and_told_again_when_all_is_well(failing: Path, few: Catalogue, hook: Hook) -> None:
    watch = alerting(rule(above=0.2), hook=hook)

    def go(minutes: int) -> Any:
        return one_pass(
            job(failing, few), alerting=watch, environ=environ(hook), now=NOW + dt.timedelta(minutes=minutes)
        )

    assert (go(0).exit_code, go(1).exit_code, go(2).exit_code) == (1, 1, 1)
    fill(failing, failed=0)
    resolved, quiet = go(3), go(4)

    assert (resolved.exit_code, quiet.exit_code, resolved.sent, quiet.sent) == (0, 0, 1, 0)
    assert [(body["alert"], body["state"], body["n"]) for _, body in hook.got] == [
        ("r", "firing", 60),
        ("r", "resolved", 60),
    ]
    (headers, body), _ = hook.got
    assert (headers["Authorization"], headers["Idempotency-Key"]) == ("Bearer hush", body["id"])
    assert body["text"].startswith("r firing: run_error is 0.5 (95% interval 0.377")


def test_it_is_repeated_as_often_as_asked(failing: Path, few: Catalogue, hook: Hook) -> None:
    watch = alerting(rule(above=0.2, repeat_s=600.0), hook=hook)
    for minutes in (0, 5, 10, 15):
        one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW + dt.timedelta(minutes=minutes))

    assert [body["since"] for _, body in hook.got] == ["2026-03-01T12:00:00Z"] * 2


def test_what_cannot_be_decided_neither_fires_nor_calms(failing: Path, few: Catalogue) -> None:
    watch = alerting(rule(above=0.2))
    later = NOW + dt.timedelta(hours=3)
    assert one_pass(job(failing, few), alerting=watch, now=later).exit_code == 0
    assert one_pass(job(failing, few), alerting=watch, now=NOW).exit_code == 1
    report = one_pass(job(failing, few), alerting=watch, now=later)

    assert (report.judgements[0].verdict, report.exit_code) == (Verdict.UNDECIDABLE, 1)
    assert query(failing, "select state, series from alert_states") == [("firing", "all")]


def test_every_service_is_judged_by_itself(failing: Path, few: Catalogue) -> None:
    with Store.open(failing) as opened:
        opened.connection.execute("update runs set status = 'ok', fingerprint = 'x' where service_name = 'desk'")
    report = one_pass(job(failing, few), alerting=alerting(rule(above=0.2, by="service", min_n=10)), now=NOW)

    assert [(one.series, one.verdict) for one in report.judgements] == [("desk", Verdict.OK), ("shop", Verdict.FIRING)]


@pytest.mark.parametrize(
    ("metric", "unit", "figure", "above"),
    [("error_rate", "ratio", "mean", 0.2), ("latency_p50", "s", "p50", 1.1)],
)
def test_facts_of_runs_need_no_evaluator(
    failing: Path, few: Catalogue, metric: str, unit: str, figure: str, above: float
) -> None:
    watch = alerting(rule(metric=metric, unit=unit, figure=figure, above=above))

    assert one_pass(job(failing, few), alerting=watch, now=NOW).exit_code == 1


def test_benchmark_runs_are_in_no_alert(failing: Path, few: Catalogue) -> None:
    with Store.open(failing) as opened:
        opened.connection.execute("update runs set source = 'benchmark'")
    report = one_pass(job(failing, few), alerting=alerting(rule(metric="error_rate", unit="ratio", above=0.2)), now=NOW)

    assert (report.judgements[0].n_total, report.exit_code) == (0, 0)


def test_a_backfill_judges_nothing(failing: Path, few: Catalogue) -> None:
    assert one_pass(job(failing, few, until=NOW), alerting=alerting(rule(above=0.2)), now=NOW).judgements == []


def test_a_message_that_does_not_arrive_is_kept_and_sent_by_the_next_pass(
    failing: Path, few: Catalogue, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
    watch = alerting(rule(above=0.2), hook=hook)
    hook.answers = [503, 503, 503]
    broken = one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW)

    assert (broken.sent, broken.exit_code) == (0, 1)
    ((attempts, error),) = query(failing, "select attempts, last_error from alert_outbox")
    assert (attempts, "503" in error) == (1, True)
    assert "secret" not in error + " ".join(broken.failures)

    assert one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW).sent == 1
    assert query(failing, "select count(*) from alert_outbox") == [(0,)]
    assert len(hook.got) == 1


def test_a_post_is_tried_again_and_a_refusal_is_not(hook: Hook) -> None:
    pauses: list[float] = []
    hook.answers = [503, 429]
    post(hook.url, b"{}", headers={}, timeout_s=2, sleep=pauses.append)
    assert (len(hook.got), len(pauses)) == (1, 2)

    hook.answers = [400]
    with pytest.raises(DeliveryFailed, match="answered 400"):
        post(hook.url, b"{}", headers={}, timeout_s=2, sleep=pauses.append)
    hook.answers = [302]
    with pytest.raises(DeliveryFailed, match="answered 302"):
        post(hook.url, b"{}", headers={}, timeout_s=2, sleep=pauses.append)
    assert (len(hook.got), len(pauses)) == (1, 2)


def test_an_address_is_never_told_in_full() -> None:
    with pytest.raises(DeliveryFailed) as caught:
        post("http://user:word@127.0.0.1:9/T0/secret?key=hush", b"", headers={}, timeout_s=1, sleep=lambda _: None)
    assert all(secret not in str(caught.value) for secret in ("word", "secret", "hush"))
    with pytest.raises(DeliveryFailed) as caught:
        post("http://user:word@127.0.0.1/T0/secret", b"", headers={}, timeout_s=1, sleep=lambda _: None)
    assert all(secret not in str(caught.value) for secret in ("word", "secret"))
    with pytest.raises(DeliveryFailed, match="must begin with http"):
        post("file:///etc/hostname", b"", headers={}, timeout_s=1)


def test_a_user_and_password_of_the_address_are_sent_as_basic_authorization(
    failing: Path, few: Catalogue, hook: Hook
) -> None:
    url = hook.url.replace("http://", "http://shop:p%40ss@")
    watch = Alerting((rule(above=0.2),), Webhook(url_env="HOOK", timeout_s=2))
    report = one_pass(job(failing, few), alerting=watch, environ={"HOOK": url}, now=NOW)

    assert (report.sent, report.failures) == (1, [])
    ((headers, _),) = hook.got
    assert headers["Authorization"] == f"Basic {base64.b64encode(b'shop:p@ss').decode()}"
    assert headers["Host"] == hook.url.split("/")[2]


def test_the_state_and_the_message_are_stored_together(
    failing: Path, few: Catalogue, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies between judging and telling has told nobody, and the next one does."""
    watch = alerting(rule(above=0.2), hook=hook)

    class Killed(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("spanscore.production.passes.deliver", die)
        with pytest.raises(Killed):
            one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW)
    assert one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW).sent == 1


def test_a_webhook_that_never_answers_costs_one_message_a_change_and_one_attempt_a_pass(
    failing: Path, few: Catalogue, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alert that is told of again every minute, by two rules, and nobody listens."""
    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
    watch = alerting(rule(above=0.2, repeat_s=60.0), rule(name="s", above=0.1, repeat_s=60.0), hook=hook)
    for minute in range(4):
        hook.answers = [503] * 6
        one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW + dt.timedelta(seconds=61 * minute))
        assert len(hook.answers) == 3

    assert query(failing, "select alert, count(*) from alert_outbox group by alert order by alert") == [
        ("r", 1), ("s", 1),
    ]  # fmt: skip
    from spanscore.doctor import examine

    document = examine(failing)
    assert [(row["alert"], row["waiting"]) for row in document["undelivered"]["alerts"]] == [("r", 1), ("s", 1)]
    # One attempt a pass, at either of them: both are queued at the same moment.
    assert any("503" in (row["last_error"] or "") for row in document["undelivered"]["alerts"])
    assert any("--discard webhook" in line for line in document["advice"])
    hook.answers = []
    assert one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW).sent == 2
    assert examine(failing)["undelivered"]["alerts"] == []


def test_a_message_that_is_refused_keeps_no_other_waiting(
    failing: Path, few: Catalogue, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
    hook.answers = [400]
    watch = alerting(rule(above=0.2), rule(name="s", above=0.1), hook=hook)
    report = one_pass(job(failing, few), alerting=watch, environ=environ(hook), now=NOW)

    assert (report.sent, report.messages_waiting, len(report.failures)) == (1, 1, 1)


def test_messages_without_a_webhook_any_more_are_mentioned_and_can_be_dropped(
    failing: Path, few: Catalogue, hook: Hook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spanscore.production.undelivered import discard
    from spanscore.report.production import print_report

    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
    hook.answers = [503] * 3
    one_pass(job(failing, few), alerting=alerting(rule(above=0.2), hook=hook), environ=environ(hook), now=NOW)
    report = one_pass(job(failing, few), alerting=alerting(rule(above=0.2)), now=NOW)
    print_report(report, "table", store=failing, as_line=False)

    assert "Messages about alerts wait for a webhook (1), and spanscore.toml names none" in capsys.readouterr().err
    assert discard(failing, "webhook")["discarded"] == 1
    assert one_pass(job(failing, few), alerting=alerting(rule(above=0.2)), now=NOW).messages_waiting == 0


def test_of_a_series_that_changes_again_and_again_the_last_messages_wait(tmp_path: Path) -> None:
    from spanscore.store.outbox import MOST_MESSAGES, Message, keep_alerts, waiting_messages

    Store.open(tmp_path).close()
    for n in range(MOST_MESSAGES + 5):
        moment = NOW + dt.timedelta(minutes=n)
        payload = {"state": "firing" if n % 2 else "resolved", "since": moment.isoformat()}
        for series in ("a", "b"):
            keep_alerts(
                tmp_path,
                [],
                [Message(message_id=f"{series}{n}", alert="r", series=series, payload=payload, queued_at=moment)],
            )

    kept = {f"{series}{n}" for n in range(5, MOST_MESSAGES + 5) for series in ("a", "b")}
    assert {message.message_id for message in waiting_messages(tmp_path)} == kept
