"""`/api/v1/notifications`: who was told what and when, and what waits."""

from typing import Any

from api.played_home import PlayedReader
from api.served_api import NOW, Api, status_change
from confluent_kafka import Message
from warren.contracts import NotificationEvent, NotifierState, PendingDelivery, group_key
from warren.settings import HomeSettings
from warren_api.home.feed import Feed
from warren_api.model.read_model import ReadModel
from warren_core.group_incident import fold

PATH = "/api/v1/notifications"


def told(group: str = "billing", **fields: Any) -> NotificationEvent:
    values: dict[str, Any] = {
        "cluster": "demo",
        "group": group,
        "delivery_id": "d-1",
        "event_id": "e-1",
        "incident_id": f"{group}-i",
        "kind": "opened",
        "status": "ERR",
        "route": "all",
        "channel": "mail",
        "attempt": 1,
        "at": NOW,
        "outcome": "delivered",
        "detail": "250 <ok>",
        "duration_ms": 12,
    }
    return NotificationEvent(**(values | fields))


def state(group: str = "billing", **fields: Any) -> NotifierState:
    values: dict[str, Any] = {
        "delivery_id": f"{group}-d",
        "event_id": "e-1",
        "incident_id": f"{group}-i",
        "kind": "opened",
        "status": "ERR",
        "route": "all",
        "channel": "pager",
        "offset": 0,
        "accepted_at": NOW - 60_000,
        "deadline_at": NOW + 60_000,
        "attempts": 2,
        "next_attempt_at": NOW + 2_000,
    }
    event = fold(None, status_change(group, "ERR", NOW))
    assert event is not None
    return NotifierState(
        cluster="demo",
        group=group,
        offset=0,
        deliveries=[PendingDelivery(**(values | fields))],
        events={"e-1": event},
    )


def put(api: Api, *events: NotificationEvent) -> None:
    for offset, event in enumerate(events):
        api.model.notifications.take(0, offset, event.to_bytes(), event.key)


def test_who_was_told_newest_first_and_what_waits_oldest_first(api: Api) -> None:
    put(api, told(), told("other", at=NOW - 5, outcome="failed", next_attempt_at=NOW + 5))
    for group, since in (("billing", NOW - 1), ("other", NOW - 9)):
        value = state(group, accepted_at=since, held="silence x").to_bytes()
        api.model.notifications.apply_state(group.encode(), value)
    body = api.get(PATH).json()
    assert [one["group"] for one in body["notifications"]] == ["billing", "other"]
    assert body["notifications"][0]["detail"] == "250 <ok>"
    assert body["notifications"][1]["next_attempt_at"] == NOW + 5
    assert [(one["group"], one["since"]) for one in body["pending"]] == [
        ("other", NOW - 9),
        ("billing", NOW - 1),
    ]
    assert body["pending"][0]["held"] == "silence x"
    assert (body["total"], body["pending_total"]) == (2, 2)
    api.model.notifications.apply_state(b"other", None)
    assert api.get(PATH).json()["pending_total"] == 1


def test_filters_and_pages(api: Api) -> None:
    many = [told(f"g-{n}", at=NOW + n, channel=("mail", "pager")[n % 2]) for n in range(10)]
    put(api, *many)
    api.model.notifications.apply_state(b"x", state("g-1").to_bytes())

    def found(query: str) -> list[str]:
        return [one["group"] for one in api.get(f"{PATH}?{query}").json()["notifications"]]

    assert found("channel=pager") == ["g-9", "g-7", "g-5", "g-3", "g-1"]
    assert found("regex=^g-[12]$") == ["g-2", "g-1"]
    assert found("incident=g-3-i") == ["g-3"]
    assert found("outcome=refused") == []
    assert api.get(f"{PATH}?incident=g-3-i").json()["pending"] == []
    first = api.get(f"{PATH}?limit=6").json()
    rest = api.get(f"{PATH}?limit=6&cursor={first['next']}").json()
    groups = [one["group"] for one in first["notifications"] + rest["notifications"]]
    assert groups == [f"g-{n}" for n in reversed(range(10))]


def test_the_feed_keeps_the_newest_and_reads_them_again_after_a_loss() -> None:
    model = ReadModel(history=3)
    feed = Feed(HomeSettings(), model, Api().clock, lambda _: None)
    key = group_key("demo", "billing")

    def records(*numbers: int) -> list[Message]:
        topic = "warren.notifications"
        values = [told(at=NOW + n).to_bytes() for n in numbers]
        return [
            Message(topic=topic, partition=0, offset=n, key=key, value=value)
            for n, value in zip(numbers, values, strict=True)
        ]

    waits = Message(
        topic="warren.notifier-state", partition=0, offset=0, key=b"k", value=state().to_bytes()
    )
    damaged = Message(topic="warren.notifications", partition=0, offset=9, key=key, value=b"{")
    feed.catch_up(PlayedReader([records(0, 1, 2, 3), [waits, damaged]], behind=2))
    assert [a.offset for a in model.notifications.attempts()] == [2, 3]
    assert len(model.notifications.waiting()) == 1
    feed.catch_up(PlayedReader([records(4)], behind=1))
    assert [a.offset for a in model.notifications.attempts()] == [4]
    assert not model.notifications.waiting()
