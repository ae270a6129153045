"""Digests on Slack and Teams: one message for a storm, within limits whatever groups are called."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from notifier.builders import delivery, event
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import HttpReceiver
from notifier.slack_receiver import shown
from notifier.specimens import BASE, made, specimen
from notifier.test_email_digest import PROD, news as told, over
from notifier.test_teams import shown as shown_by_teams
from warren.contracts import Cause
from warren_notifier.channels.channel import Channel, Delivered, Result
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.state.telling import Delivery

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
        assert channel.tells_many
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


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["slack", "teams"])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_in_a_storm_breaks_a_limit(kind: str, name: str) -> None:
    message, _ = posted(kind, *storm(HOSTILE[name]))
    assert "<!" not in message.get("text", "")
