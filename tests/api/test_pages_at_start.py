"""What pages say while the API still reads what it knew: a mail's link may be followed then."""

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from warren_api.model.cluster import FeedState

INCIDENT, GROUP, TOPIC = "/incidents/i-1", "/groups/demo/billing", "/topics/demo/orders"
SILENCE, INCIDENTS = "/silences/s-1", "/incidents"
CLUSTER, TOPICS = "/clusters/gone", "/topics"
FRAGMENTS = [f"/fragments{path}" for path in (GROUP, TOPIC, INCIDENTS, CLUSTER, TOPICS)]
PAGES = [INCIDENT, GROUP, TOPIC, SILENCE, INCIDENTS, CLUSTER, TOPICS]
STARTING = FeedState(ready=False, problem=None)


@pytest.mark.parametrize("path", [*PAGES, *FRAGMENTS])
def test_what_may_yet_be_read_is_not_said_to_be_unknown(api: Api, path: str) -> None:
    api.feed = STARTING
    answer = api.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.headers["cache-control"] == "no-store"
    said = text(page(api, path, 503))
    assert "Reading…" in said
    assert "still reading what it knew" in said
    for wrong in ("knows no", "No such", "none is remembered"):
        assert wrong not in said


@pytest.mark.parametrize("path", PAGES)
def test_it_shows_itself_once_it_is_read(api: Api, path: str) -> None:
    """By the script, or, without one, by the browser."""
    api.feed = STARTING
    soup = page(api, path, 503)
    assert soup.select_one("noscript meta[http-equiv=refresh]")
    assert soup.select_one("#live, [data-reading]")


def test_what_is_known_already_is_shown(api: Api) -> None:
    api.feed = STARTING
    api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW})
    assert "i-1" in text(page(api, GROUP))
    assert "billing" in text(page(api, INCIDENT))


@pytest.mark.parametrize("path", [INCIDENT, GROUP, TOPIC, SILENCE, CLUSTER])
def test_what_was_read_and_is_not_there_is_unknown(api: Api, path: str) -> None:
    assert "retry-after" not in api.get(path).headers
    soup = page(api, path, 404)
    assert "Reading" not in text(soup)
    assert not soup.select("[data-reading]")


def test_a_form_that_comes_too_early_is_not_refused_for_good(api: Api) -> None:
    api.feed = STARTING
    for path in (INCIDENT, SILENCE):
        assert api.request("POST", path, data={"why": "mine"}).status_code == 503
