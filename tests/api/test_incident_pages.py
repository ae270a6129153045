"""The page of an incident, the list of all, and what stands where there is nothing."""

import shlex
from typing import Any

import pytest
from api.read_pages import cells, fact, page, text
from api.served_api import NOW, Api
from warren.contracts import NotificationEvent
from warren_api.pages.environment import command

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost"}
CAUSE = {"name": "no_members", "sentence": "nobody is in <it>", "action": "start them"}
SENT: dict[str, Any] = {
    "kind": "changed",
    "channel": "mail",
    "outcome": "delivered",
    "detail": "250 <ok>",
}
OPENED = NOW - 41 * 60_000
ID = f"billing-{OPENED}"


@pytest.fixture
def api(api: Api) -> Api:
    """billing is ERR since 41 minutes, after a minute of WARN; fine was ERR for a minute."""
    incident = {"id": ID, "opened_at": OPENED}
    api.put("billing", status="ERR", incident=incident, cause=CAUSE)
    api.put("fine")
    api.change("billing", "WARN", OPENED, explanation="commits slowly")
    worse = {"previous": "WARN", "opened_at": OPENED, "cause": CAUSE, "total_lag": 7_000}
    api.change("billing", "ERR", OPENED + 60_000, **worse)
    api.change("fine", "ERR", NOW - 90_000, explanation="<b>stuck</b>")
    api.change("fine", "OK", NOW - 30_000, previous="ERR", opened_at=NOW - 90_000)
    return api


def tell(api: Api, at: int, **fields: Any) -> None:
    event = NotificationEvent(
        cluster="demo",
        group="billing",
        delivery_id="d",
        event_id="e",
        incident_id=ID,
        status="ERR",
        route="all",
        attempt=1,
        at=at,
        **{
            "kind": "changed",
            "channel": "mail",
            "outcome": "delivered",
            "detail": "250 <ok>",
            **fields,
        },
    )
    api.model.notifications.take(0, at, event.to_bytes(), event.key)


def timeline(api: Api, path: str = f"/incidents/{ID}") -> list[str]:
    return [text(item) for item in page(api, path).select(".timeline > li")]


def test_what_happened_and_who_was_told_in_one_order(api: Api) -> None:
    tell(api, OPENED + 61_000)
    assert timeline(api) == [
        "06:20 UTC 39m ago notified: mail (ERR changed) 06:20 UTC mail : 250 <ok>",
        "06:20 UTC 40m ago ERR after WARN: nobody is in <it>",
        "06:19 UTC 41m ago WARN after OK: commits slowly",
    ]
    soup = page(api, f"/incidents/{ID}")
    assert text(soup.h1) == "billing is ERR"  # type: ignore[arg-type]
    (why,) = soup.select(".why")
    assert text(why) == "Cause: nobody is in <it>. What to do: start them."
    assert text(fact(soup, "Duration")) == "Duration 41m ongoing"
    assert text(fact(soup, "Largest lag seen")).endswith("7,000")
    assert text(fact(soup, "Lag now")) == "Lag now 0 1 at the opening"


def test_deliveries_are_one_line_and_what_people_and_members_did_is_there(api: Api) -> None:
    for second, channel in enumerate(("mail", "Slack", "Teams", "PagerDuty")):
        tell(api, OPENED + 61_000 + second * 1_000, channel=channel)
    tell(api, OPENED + 300_000, channel="Slack", kind="repeated")
    for minute, count in ((20, 2), (21, 0)):
        api.remember("billing", OPENED - OPENED % 60_000 + minute * 60_000, members=count)
    api.request("POST", "/groups/demo/billing/silence", content="length=1h&by=ada", headers=FORM)
    said = timeline(api)
    assert len(said) == 6
    assert "silenced by ada : no reason given" in said[0]
    assert said[1].endswith("members: 2 → 0")
    assert "notified: Slack (ERR repeated)" in said[2]
    assert "notified: mail , Slack , Teams , PagerDuty (ERR changed)" in said[3]


def test_an_incident_as_markdown_is_how_its_page_says_it(api: Api) -> None:
    tell(api, OPENED + 61_000, channel="on_call *now*")
    answer = api.get(f"/incidents/{ID}?format=markdown")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    lines = answer.text.split("\n")
    assert lines[0] == "# billing is ERR"
    assert "| Cause | nobody is in \\<it\\> |" in lines
    assert "| Cluster | demo |" in lines
    assert f"As of 2026-11-21 07:00 UTC: <http://localhost/incidents/{ID}>" in lines
    assert lines[lines.index("## Timeline") + 2 :] == [
        "- 2026-11-21 06:20 UTC: notified: on_call \\*now\\* (ERR changed)",
        "- 2026-11-21 06:20 UTC: ERR after WARN: nobody is in \\<it\\>",
        "- 2026-11-21 06:19 UTC: WARN after OK: commits slowly",
        "",
    ]
    assert api.get("/incidents/nope?format=markdown").status_code == 404
    api.remember("billing", OPENED - OPENED % 60_000)
    assert page(api, f"/incidents/{ID}").select(".charts .chart")


def test_one_that_is_over_says_how_long_it_was(api: Api) -> None:
    path = f"/incidents/fine-{NOW - 90_000}"
    soup = page(api, path)
    assert text(soup.h1) == "fine was ERR"  # type: ignore[arg-type]
    assert text(fact(soup, "Duration")) == "Duration 1m until 06:59 UTC"
    assert not soup.select("main form")
    assert timeline(api, path) == [
        "06:59 UTC 30s ago OK after ERR",
        "06:58 UTC 1m 30s ago ERR after OK: <b>stuck</b>",
    ]


def test_all_incidents_open_ones_first(api: Api) -> None:
    for path in ("/incidents", "/fragments/incidents"):
        soup = page(api, path)
        (live,) = soup.select("[data-announcement]")
        assert live["data-announcement"] == "1 incident is open"
        rows = [cells(row) for row in soup.select("tbody tr")]
        assert [row["Group"] for row in rows] == ["billing demo", "fine demo"]
        assert rows[0]["Trouble"] == "No members nobody is in <it>"
        assert [row["Duration"] for row in rows] == ["41m, ongoing", "1m"]
    api.request(
        "POST", f"/incidents/{ID}", content="by=ada", headers={"Origin": "http://localhost"}
    )
    (first, *_) = page(api, "/incidents").select("tbody tr")
    assert cells(first)["Acknowledged"] == "ada"
    assert "acknowledged by ada" in " ".join(timeline(api))


def test_people_get_a_page_where_there_is_nothing(api: Api) -> None:
    accepts = {"Accept": "text/html,application/xhtml+xml"}
    answer = api.get("/nothing/%3Cb%3Ehere", headers=accepts)
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert "/nothing/&lt;b&gt;here" in answer.text
    assert 'href="/incidents"' in api.get("/incident", headers=accepts).text
    assert api.get("/nothing").headers["content-type"].startswith("text/plain"), "as Burrow"
    assert api.get("/v3/nothing", headers=accepts).headers["content-type"] != "text/html"
    assert "problem+json" in api.get("/api/nothing", headers=accepts).headers["content-type"]


@pytest.mark.parametrize("name", ["billing", "it's $(rm -rf) `x`", "-a b"])
def test_a_command_is_taken_as_it_is_meant(name: str) -> None:
    assert shlex.split(command("ack", name)) == ["warren", "ack", name]


def test_a_command_names_the_same_group_whatever_it_is_called(api: Api) -> None:
    api.put("new\nline \u202e")
    (said,) = page(api, "/groups/demo/new%0Aline%20%E2%80%AE").select(".note code")
    assert said.get_text() == r"warren describe group $'demo/new\nline \u202e'"
