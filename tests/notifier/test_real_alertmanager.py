"""A real Alertmanager takes our alerts, groups, silences and resolves them."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import delivery, event
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import HttpReceiver
from notifier.specimens import channel as channel_of, of_table
from support.alertmanager import Alertmanager, alertmanager, running_alertmanager
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import StatusChangeEvent
from warren_notifier.channels.channel import Delivered

LONG = 600.0  # seconds: nothing expires while a test runs on a busy machine


@pytest.fixture(scope="module")
def told() -> Iterator[HttpReceiver]:
    """What Alertmanager tells."""
    with HttpReceiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, told: HttpReceiver) -> Iterator[Alertmanager]:
    if (binary := alertmanager()) is None:
        pytest.skip(
            "no Alertmanager: alerts are not sent to a real one; "
            "`make alertmanager` installs it (Debian, Ubuntu)"
        )
    folder = tmp_path_factory.mktemp("alertmanager")
    with running_alertmanager(binary, folder, told.url) as running:
        yield running


def send(
    real: Alertmanager,
    published: StatusChangeEvent,
    receipt: str | None = None,
    *,
    resend_interval: float = LONG,
    **fields: Any,
) -> str | None:
    """The receipt."""
    of = of_table('type = "alertmanager"', url=real.url, resend_interval=resend_interval)

    async def run() -> str | None:
        channel = channel_of(of, SystemClock())
        what = delivery(published, **fields)
        what.receipt = receipt
        result = await channel.send(what)
        await channel.close()
        assert isinstance(result, Delivered), result
        return result.receipt

    return asyncio.run(run())


def published(status: Any = "ERR", previous: Any = "OK", **fields: Any) -> StatusChangeEvent:
    """Now, and open since a minute ago."""
    now = SystemClock().now_ms()
    return event(status, previous, at=now, opened_at=now - 60_000, **fields)


def states(real: Alertmanager, cluster: str) -> dict[tuple[str, str], str]:
    """`active` or `suppressed` by group and severity."""
    return {
        (found["labels"]["consumer_group"], found["labels"]["severity"]): found["status"]["state"]
        for found in real.alerts()
        if found["labels"]["cluster"] == cluster
    }


def messages(told: HttpReceiver, cluster: str) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = [json.loads(request.body) for request in list(told.requests)]
    return [body for body in bodies if body["commonLabels"].get("cluster") == cluster]


def groups_told(told: HttpReceiver, cluster: str, status: str) -> set[str]:
    return {
        one["labels"]["consumer_group"]
        for message in messages(told, cluster)
        for one in message["alerts"]
        if one["status"] == status
    }


def test_incidents_of_a_cluster_are_grouped_and_resolved(
    real: Alertmanager, told: HttpReceiver
) -> None:
    groups = {f"g{n}" for n in range(5)}
    receipts = {g: send(real, published(cluster="grouped", group=g)) for g in groups}
    eventually(
        lambda: [m for m in messages(told, "grouped") if len(m["alerts"]) == len(groups)],
        message="one message has all groups",
    )
    for group, receipt in receipts.items():
        over = published("OK", "ERR", cluster="grouped", group=group)
        send(real, over, receipt, kind="resolved")
    eventually(
        lambda: groups_told(told, "grouped", "resolved") == groups, message="all are resolved"
    )
    assert states(real, "grouped") == {}


def test_another_severity_replaces_the_alert(real: Alertmanager) -> None:
    receipt = send(real, published("WARN", cluster="worse"))
    assert states(real, "worse") == {("billing", "warning"): "active"}
    receipt = send(real, published("ERR", "WARN", cluster="worse"), receipt, kind="changed")
    assert states(real, "worse") == {("billing", "critical"): "active"}
    send(real, published("OK", "ERR", cluster="worse"), receipt, kind="resolved")
    assert states(real, "worse") == {}


def test_an_end_without_a_receipt_resolves_what_may_fire(real: Alertmanager) -> None:
    send(real, published("WARN", cluster="unsure"))
    send(real, published("OK", "WARN", cluster="unsure"), kind="resolved")
    assert states(real, "unsure") == {}


def test_silences_know_our_labels(real: Alertmanager) -> None:
    real.silence(cluster="silent", consumer_group="quiet")
    send(real, published(cluster="silent", group="quiet"))
    send(real, published(cluster="silent", group="loud"))
    eventually(
        lambda: (
            states(real, "silent")
            == {("quiet", "critical"): "suppressed", ("loud", "critical"): "active"}
        ),
        message="one is silenced",
    )


def test_what_is_not_sent_again_is_resolved_what_is_lasts(real: Alertmanager) -> None:
    send(real, published(cluster="left", group="forgotten"), resend_interval=1)
    send(real, published(cluster="left", group="kept"), resend_interval=1)
    send(real, published(cluster="left", group="kept"), kind="repeated", repeat=1)
    eventually(
        lambda: states(real, "left") == {("kept", "critical"): "active"},
        message="what was not sent again is over",
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_names_arrive_as_they_are(real: Alertmanager, name: str) -> None:
    send(real, published(cluster="hostile", group=HOSTILE[name]))
    assert (HOSTILE[name], "critical") in states(real, "hostile")
