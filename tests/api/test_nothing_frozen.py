"""The world changes, and each place that shows it says so: no figure of before is left anywhere."""

import re

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api, late, topic

OPENING = 555  # records behind when the incident opened: a page may say so of then
PAGES = (
    "/?q=is:any",
    "/groups/demo/billing",
    "/clusters/demo",
    "/topics/demo/orders",
    "/topics",
    "/incidents",
    "/incidents/i-1",
)
FRAGMENTS = ("/fragments/groups?q=is:any", *(f"/fragments{path}" for path in PAGES[1:]))
ANSWERS = (
    "/api/v1/groups",
    "/api/v1/groups/demo/billing",
    "/api/v1/topics",
    "/api/v1/topics/demo/orders",
    "/api/v1/incidents",
    "/api/v1/incidents/i-1",
    "/v3/kafka/demo/consumer/billing/lag",
    "/metrics?detail=partition",
)


def world(api: Api, lag: int, late_s: int, why: str) -> None:
    """A group that is so far behind, and why."""
    end = 100 + lag
    cause = {"name": "no_members", "short": why, "sentence": f"{why} now", "evidence": {}}
    api.put(
        "billing",
        status="ERR",
        total_lag=lag,
        incident={"id": "i-1", "opened_at": NOW - 600_000},
        topics={"orders": topic({"status": "STOP", "lag": lag, "log_end": end})},
        cause=cause,
    )
    api.list_topics({"orders": [end]}, observed_at=api.clock.now_ms())
    api.measure("billing", late(late_s * 1000))


@pytest.fixture
def api(api: Api) -> Api:
    opened = {"incident_id": "i-1", "opened_at": NOW - 600_000, "total_lag": OPENING}
    api.change("billing", "ERR", NOW - 600_000, **opened)
    world(api, 12_345, 421, "Nobody is there")
    return api


def said(api: Api, path: str) -> str:
    if path in ANSWERS:
        answer = api.get(path)
        assert answer.status_code == 200, path
        return answer.text
    return text(page(api, path))


def of(lag: int, late_s: int, why: str) -> tuple[str, ...]:
    """How it is written."""
    return f"{lag:,}", str(lag), f"{late_s // 60}m {late_s % 60}s", f"{late_s}000", why


def shown(text_of: str, said_of: tuple[str, ...]) -> set[str]:
    return {
        each for each in said_of if re.search(rf"(?<![\d,.]){re.escape(each)}(?!,?\d)", text_of)
    }


@pytest.mark.parametrize("path", [*PAGES, *FRAGMENTS, *ANSWERS])
def test_each_place_shows_the_world_as_it_is(api: Api, path: str) -> None:
    old, new = of(12_345, 421, "Nobody is there"), of(67_890, 1_387, "It crashes")
    before = shown(said(api, path), old)
    assert before, "it shows something of the group"
    api.clock.advance(1)
    world(api, 67_890, 1_387, "It crashes")
    after = said(api, path)
    assert not shown(after, old), "of before"
    assert len(shown(after, new)) == len(before)
