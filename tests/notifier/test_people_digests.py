"""Digests on Slack and Teams: one message for a storm, within limits whatever groups are called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from notifier.builders import delivery, event, route
from notifier.harness import Harness, Log, life
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.slack_receiver import SlackApi, shown
from notifier.specimens import BASE, made, specimen
from notifier.test_digests import news
from notifier.test_email_digest import PROD, over
from notifier.test_email_digest import news as told
from notifier.test_slack_bot import bot
from notifier.test_teams import shown as shown_by_teams
from warren.clock import ManualClock
from warren.contracts import Cause, StatusChangeEvent
from warren_notifier.channels.channel import Channel, Delivered, Result
from warren_notifier.channels.digest import Digest, tells_many
from warren_notifier.state.delivery import Delivery

STORM = 2_000


def storm(name: str = "g") -> list[Delivery]:
    """All about groups whose names begin so, with a cause that says it too."""
    cause = Cause(name="too_slow", sentence=name * 5, action=name)
    groups = [f"{name}{number}" for number in range(STORM)]
    return [
        delivery(event(group=group, incident_id=str(n), cause=cause), delivery_id=f"d{n}")
        for n, group in enumerate(groups)
    ]


def send_many(channel: Channel, *many: Delivery, lasting: Sequence[str] = ()) -> Result:
    async def run() -> Result:
        assert tells_many(channel)
        try:
            return await channel.send_many(Digest("digest-1", PROD, many, lasting, None))
        finally:
            await channel.close()

    return asyncio.run(run())


def posted(kind: str, *many: Delivery, lasting: Sequence[str] = ()) -> tuple[dict[str, Any], str]:
    """The message and its text."""
    with HttpReceiver(decide=specimen(kind).receiver) as receiver:
        channel = made(kind, f"127.0.0.1:{receiver.port}")
        assert isinstance(send_many(channel, *many, lasting=lasting), Delivered)
    (request,) = receiver.requests
    message: dict[str, Any] = json.loads(request.body)
    if kind == "slack":
        return message, shown(message)
    return message, shown_by_teams(message["attachments"][0]["content"])


@pytest.mark.parametrize("kind", ["slack", "teams"])
def test_a_storm_is_one_message_with_the_worst(kind: str) -> None:
    many = [told(n, "ERR", total_lag=n) for n in range(STORM)]
    _, text = posted(kind, *many, over(STORM))
    assert "2,000 consumer groups on prod are in trouble: 2,000 ERR." in text
    assert "ERR g1999: stopped\nsince 07:00 UTC · lag 1,999 at 07:00 UTC\n" in text
    assert "… and 1,990 more" in text
    assert "Over\ng2000: OK again after 5m" in text


@pytest.mark.parametrize("kind", ["slack", "teams"])
def test_a_storm_leads_to_the_worst_incidents(kind: str) -> None:
    message, _ = posted(kind, *(told(n, "ERR", total_lag=n) for n in range(STORM)))
    found = [text for text in json.dumps(message).split('"') if "/incidents/" in text]
    assert found == [f"{BASE}/incidents/g{n}-1" for n in range(STORM - 1, STORM - 11, -1)]


@pytest.mark.parametrize("kind", ["slack", "teams"])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_in_a_storm_breaks_a_limit(kind: str, name: str) -> None:
    message, _ = posted(kind, *storm(HOSTILE[name]))
    assert "<!" not in message.get("text", "")


@pytest.mark.parametrize("kind", ["slack", "teams"])
def test_one_beside_others_says_so(kind: str) -> None:
    lasting = [told(number).event for number in (2, 3)]
    _, text = posted(kind, told(1), lasting=lasting)
    assert "Consumer group g0001 on cluster prod is ERR." in text
    assert "Also open: 2 groups on prod (worst ERR)" in text


def played(api: SlackApi, *batches: Sequence[StatusChangeEvent]) -> Log:
    """A bot that tells of each batch before the next comes."""
    log, clock, offset = Log(), ManualClock(0), 0
    with api.receiver() as receiver:

        async def scenario(tasks: asyncio.TaskGroup) -> None:
            nonlocal offset
            channel = bot(receiver)
            routes = [route(channels=("slack",))]
            harness = Harness(
                log, tasks, routes, {"slack": channel}, clock=clock, queue_size=10_000
            )
            await harness.assign()
            for batch in batches:
                await harness.read(*batch, offset=offset)
                offset += len(batch)
                await harness.idle()
            await channel.close()

        life(scenario)
    return log


def test_a_bot_keeps_one_thread_for_a_storm() -> None:
    api, groups = SlackApi(), [f"g{number}" for number in range(50)]
    log = played(
        api,
        [news(group) for group in groups],
        [news("late")],
        [news("g0", "OK"), news("later")],
        [news(group, "OK") for group in (*groups[1:], "late", "later")],
    )
    assert set(log.outcomes()) == {"delivered"}
    assert log.states() == []
    ((first, replies),) = api.threads().items()
    over_now = (
        "[OK] prod: over: g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12, g13, g14, g15, +36"
    )
    assert api.messages[first]["text"] == over_now
    assert [reply["text"] for reply in replies] == [
        "[ERR] prod: late 1 partition stopped; as of 07:00 UTC",
        "[ERR] prod: g1 +50 stopped (1 new, 1 over)",
        over_now,
    ]
    assert [reply.get("reply_broadcast", False) for reply in replies] == [True, True, False]


def test_an_incident_that_was_told_alone_keeps_its_thread_beside_a_storm() -> None:
    api = SlackApi()
    played(
        api,
        [news("a")],
        [news("b"), news("c")],
        [news("a", "OK")],
        [news("b", "OK")],
        [news("c", "OK")],
    )
    (alone, ends), (many, replies) = api.threads().items()
    assert api.messages[alone]["text"].startswith("[OK] prod: a OK")
    assert [end["text"][:12] for end in ends] == ["[OK] prod: a"]
    assert [reply["text"][:12] for reply in replies] == ["[OK] prod: b", "[OK] prod: c"]
    assert api.messages[many]["text"] == "[OK] prod: over: c"


def test_an_incident_told_alone_that_ends_with_others_is_over_in_its_thread_too() -> None:
    api = SlackApi()
    played(api, [news("a")], [news("a", "OK"), news("b"), news("c")])
    (alone, _), (many, _) = api.threads().items()
    assert api.messages[alone]["text"].startswith("[OK] prod: a OK")
    assert api.messages[many]["text"] == "[ERR] prod: b +1 stopped (1 over)"


def test_a_storm_without_its_thread_begins_another() -> None:
    api, lost = SlackApi(), told(1, "ERR", "repeated")
    lost.receipt = "C123/1.000001/digest"
    with api.receiver() as receiver:
        result = send_many(bot(receiver), lost, told(2))
    assert isinstance(result, Delivered)
    assert result.receipt == "C123/1795244400.000000/digest"
    assert list(api.threads()) == ["1795244400.000000"]


def test_a_hundred_that_were_told_alone_end_together_though_slack_asks_to_wait() -> None:
    """Each attempt goes on where the one before has stopped."""
    api, limit, updates = SlackApi(), 30, list[str]()
    ends = []
    for number in range(100):
        end = told(number, "OK", "resolved")
        ts = f"1.{number:06}"
        api.messages[ts] = {}
        end.receipt = f"C123/{ts}"
        ends.append(end)

    def decide(request: Request) -> Answer:
        if request.path.endswith("chat.update"):
            updates.append(json.loads(request.body)["ts"])
            if len(updates) % limit == 0:
                return Answer(429, {"Retry-After": "30"})
        return api.decide(request)

    async def attempts() -> list[Result]:
        channel = bot(receiver)
        try:
            return [await channel.send_many(Digest("d", PROD, ends, [], None)) for _ in range(4)]
        finally:
            await channel.close()

    with HttpReceiver(decide=decide) as receiver:
        results = asyncio.run(attempts())
    assert [isinstance(one, Delivered) for one in results] == [False, False, False, True]
    assert set(updates) == {f"1.{number:06}" for number in range(100)}
    assert len(updates) == 103
    assert [m["text"][:5] for ts, m in api.messages.items() if ts.startswith("1.")] == [
        "[OK] "
    ] * 100


def test_a_storm_that_slack_asks_to_wait_with_is_tried_again() -> None:
    api = SlackApi()
    api.refusals = ["ratelimited"]
    log = played(api, [news("a"), news("b")])
    assert sorted(log.outcomes()) == ["delivered"] * 2 + ["failed"] * 2
    assert len(api.messages) == 1
