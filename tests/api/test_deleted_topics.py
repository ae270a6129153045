"""A topic that was deleted: it, and who read it, are not called unknown, nor never seen."""

from __future__ import annotations

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from warren.contracts import group_key

MINUTE = 60_000


@pytest.fixture
def api(api: Api) -> Api:
    """mailer reads `orders`; then somebody deletes it, and the offsets go with it."""
    api.list_topics({"orders": [100, 100], "bills": [1]}, NOW - 3 * MINUTE)
    api.put("mailer", evaluated_at=NOW - 3 * MINUTE)
    api.describe("mailer")
    api.model.apply(group_key("demo", "mailer"), None)
    api.list_topics({"bills": [1]}, NOW - 2 * MINUTE)
    return api


def test_the_page_of_a_deleted_topic_says_when_and_who_read_it(api: Api) -> None:
    said = text(page(api, "/topics/demo/orders", 404).main)  # type: ignore[arg-type]
    assert "orders was deleted at 06:58 UTC , 2m ago." in said
    assert "mailer read it." in said
    assert "no group has committed" not in said


def test_its_group_is_not_called_one_that_never_committed(api: Api) -> None:
    said = text(page(api, "/groups/demo/mailer").main)  # type: ignore[arg-type]
    assert "Not judged: no committed offset any more." in said
    assert "It read orders , which was deleted at 06:58 UTC , 2m ago." in said
    (group,) = api.get("/api/v1/groups?regex=mailer").json()["groups"]
    assert group["not_judged"] == "no committed offset any more"
    assert "no committed offset any more" in page(api, "/").get_text()


def test_what_comes_back_is_not_deleted(api: Api) -> None:
    api.list_topics({"orders": [0], "bills": [1]}, NOW - MINUTE)
    assert api.model.topics.deleted("demo", "orders") is None
    api.put("mailer")
    assert "Not judged" not in page(api, "/groups/demo/mailer").get_text()
    api.model.apply(group_key("demo", "mailer"), None)
    said = text(page(api, "/groups/demo/mailer").main)  # type: ignore[arg-type]
    assert "no committed offset any more" in said
    assert "was deleted" not in said


def test_the_page_of_a_deleted_group_says_when_and_leads_to_its_incident(api: Api) -> None:
    api.put("gone", status="ERR", incident={"id": "i-1", "opened_at": NOW - 9 * MINUTE})
    told = {"incident_id": "i-1", "opened_at": NOW - 9 * MINUTE}
    api.change("gone", "ERR", NOW - 9 * MINUTE, **told)
    over = {"previous": "ERR", "reason": "group_deleted", "explanation": "the group was deleted"}
    api.change("gone", "NOTFOUND", NOW - MINUTE, **told, **over)
    api.model.apply(group_key("demo", "gone"), None)
    soup = page(api, "/groups/demo/gone", 404)
    assert "Last at 06:59 UTC : the group was deleted ( its last incident )." in text(soup.main)  # type: ignore[arg-type]
    assert soup.find("a", href="/incidents/i-1")
