"""The page of one group: partitions, why it is not OK, members, the past."""

import pytest
from api.read_pages import NONE, STOPPED, cells, fact, fill, page, row_of, text
from api.served_api import NOW, Api, late, paced, topic
from warren.contracts import Acknowledgement, NotificationEvent, Silence

WHY = "orders/1: no commit for 4m 12s, usual pause 5s; 12,345 records behind"


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


def test_one_group_with_its_partitions_worst_first(filled: Api) -> None:
    soup = page(filled, "/groups/demo/billing")
    rows = soup.select(".partitions tbody tr")
    assert [cells(row)["Partition"] for row in rows] == ["orders / 1", "orders / 2", "orders / 0"]
    assert cells(rows[0]) == {
        "Status": "STOP stopped committing",
        "Partition": "orders / 1",
        "Owner": NONE,
        "Lag": "12,345",
        "Late": NONE,
        "Data loss in": NONE,
        "Committed": "100",
        "Log end": "12,445",
        "Log start": "0",
        "Last commit": "4m 15s ago",
        "Complete": "100 %",
    }
    assert "5b6a" in soup.get_text()


def test_what_is_unknown_is_a_dash(api: Api) -> None:
    never = {"committed": -1, "committed_at": -1, "log_start": -1, "log_end": -1, "lag": None}
    api.put("g", topics={"t": topic({**never, "start": None, "end": None})})
    row = cells(page(api, "/groups/demo/g").select("tbody tr")[0])
    assert {row[name] for name in ("Lag", "Committed", "Log end", "Last commit")} == {"\u2013"}


def test_an_unknown_group_has_a_page_that_explains(api: Api) -> None:
    soup = page(api, "/groups/demo/nobody", 404)
    assert "knows no consumer group of this name" in soup.get_text()
    page(api, "/fragments/groups/demo/nobody", 404)


@pytest.fixture
def explained(filled: Api) -> Api:
    """billing says why; its members and its past are known."""
    why = {"reason": [None, "no_commit"], "explanation": [None, "no commit for 4m 12s"]}
    topics = {"orders": {**topic({}, STOPPED), **why}}
    filled.put("billing", status="ERR", explanation=WHY, topics=topics)
    idle = {"member_id": "m-2", "client_id": "billing-2", "host": "/10.0.0.2"}
    owner = {**idle, "member_id": "m-1", "client_id": "billing-1", "assignment": {"orders": [1]}}
    filled.describe("billing", members=[idle, owner], idle_members=1, unowned={"orders": [0]})
    filled.change("billing", "ERR", NOW - 252_000, explanation=WHY)
    filled.change("billing", "NOTFOUND", NOW - 9_000_000, previous="ERR", reason="group_expired")
    return filled


def test_the_cause_what_to_do_and_until_when_lead_the_page(filled: Api) -> None:
    cause = {"name": "no_members", "sentence": "nobody is in it", "action": "start <b>them</b>"}
    filled.put("billing", status="ERR", explanation=WHY, cause=cause)
    filled.measure("billing", late(2_700_000, time_to_loss_ms=900_000))
    why, near = page(filled, "/groups/demo/billing").select(".why")
    assert text(why) == "Cause: nobody is in it. What to do: start <b>them</b>."
    assert text(near) == (
        "Also: unread records may be deleted from 07:15 UTC on. "
        "Then: Raise retention.ms until the group has caught up."
    )
    assert near.find_next("p", class_="seen") is not None
    filled.measure("billing", late(2_700_000, lost_records=1_204))
    filled.put("billing", status="ERR", explanation=WHY, cause={**cause, "name": "unknown"})
    why, lost = page(filled, "/groups/demo/billing").select(".why")
    assert "1,204 unread records deleted (orders/0). Then: Raise" in text(lost)
    assert "nobody" not in text(why)


def test_a_consequence_comes_after_the_root(filled: Api) -> None:
    """Records that are gone are told once."""
    gone = {"name": "records_lost", "sentence": "9 <i>are</i> gone", "action": "keep them"}
    cause = {"name": "stuck", "sentence": "it stands", "action": "look", "also": [gone]}
    filled.put("billing", status="ERR", explanation=WHY, cause=cause)
    filled.measure("billing", late(2_700_000, lost_records=9))
    found = [text(why) for why in page(filled, "/groups/demo/billing").select(".why")]
    assert found == [
        "Cause: it stands. What to do: look.",
        "Also: 9 <i>are</i> gone. Then: keep them.",
    ]
    assert cells(page(filled, "/?q=is:any").select_one("tbody tr"))["Trouble"].startswith(
        "Stuck, losing data it stands. look 9 <i>are</i> gone. keep them"
    )


def test_members_the_one_to_look_at_first(explained: Api) -> None:
    soup = page(explained, "/groups/demo/billing")
    stuck, idle = [cells(row) for row in soup.select(".members tbody tr")]
    assert (stuck["Status"], stuck["Client"], stuck["Partitions"]) == ("STOP", "billing-1", "1")
    assert (stuck["Host"], stuck["Lag"]) == ("10.0.0.2", "12,345")
    assert (idle["Status"], idle["Client"], idle["Partitions"]) == ("idle", "billing-2", "0")
    owners = {
        cells(row)["Partition"]: cells(row)["Owner"] for row in soup.select(".partitions tbody tr")
    }
    assert owners == {"orders / 1": "billing-1 10.0.0.2", "orders / 0": "nobody"}
    assert text(fact(soup, "Owned by nobody")) == "Owned by nobody orders / 0"
    assert text(fact(soup, "Members")) == "Members 2 1 without a partition"


def test_who_has_mistyped_a_name_is_led_to_it(filled: Api) -> None:
    soup = page(filled, "/groups/demo/biling", 404)
    assert [a["href"] for a in soup.select(".empty a")] == ["/groups/demo/billing", "/"]
    assert not soup.select(".note")
    (all_topics,) = page(filled, "/topics/demo/nothing", 404).select(".empty a")
    assert all_topics["href"] == "/topics"


def test_its_timeline_has_what_people_and_warren_did(api: Api) -> None:
    api.put("billing", status="ERR", incident={"id": "i", "opened_at": NOW - 300_000})
    api.change("billing", "ERR", NOW - 300_000, incident_id="i", explanation="stuck")
    told = {"cluster": "demo", "group": "billing", "incident_id": "i", "kind": "opened"}
    told |= {"delivery_id": "d", "event_id": "e", "status": "ERR", "route": "all", "attempt": 1}
    sent = told | {"channel": "mail", "at": NOW - 290_000, "outcome": "delivered", "detail": ""}
    event = NotificationEvent(**sent)
    api.model.notifications.take(0, 0, event.to_bytes(), event.key)
    note = {"incident_id": "i", "cluster": "demo", "group": "billing", "by": "ada", "why": "mine"}
    said = Acknowledgement(**note, at=NOW - 200_000)
    api.model.silences.apply_acknowledgement(b"i", said.to_bytes())
    quiet = {"id": "s", "cluster": "", "group": "bill", "by": "bob", "why": "moving"}
    times = {"begins_at": NOW - 180_000, "ends_at": NOW - 60_000, "created_at": NOW - 180_000}
    api.model.silences.apply(b"s", Silence(**quiet, **times, ended_by="eve").to_bytes())
    for ago in (8, 7):
        api.remember("billing", NOW - ago * 60_000, rebalances=2)
    items = [text(item) for item in page(api, "/groups/demo/billing").select(".timeline > li")]
    assert [item.partition(" ago ")[2] for item in items] == [
        "silence over, ended by eve",
        "silenced by bob : moving",
        "acknowledged by ada : mine",
        "notified: mail (ERR opened) 06:55 UTC mail",
        "ERR after OK: stuck",
        "4 rebalances",
    ]


def test_a_page_says_whether_to_believe_it(explained: Api) -> None:
    def said(name: str) -> str:
        (quality,) = page(explained, f"/groups/{name}").select(".quality")
        assert quality.has_attr("open") == ("complete" not in text(quality).split()[:3])
        return text(quality)

    assert said("demo/fine").startswith("Data quality: complete")
    assert "Only 99 % of its partitions have a full window" in said("eu/mailer")
    explained.put("fine", topics={"orders": topic({"lag": None, "log_end": -1})})
    assert "The lag of 1 partition is not known." in said("demo/fine")
    explained.clock.advance(300)
    assert "Data quality: unknown It was judged 5m 3s ago." in said("demo/fine")
    explained.put("ahead", evaluated_at=explained.clock.now_ms() + 3_600_000)
    assert "Data quality: unknown It was judged by a clock that is 1h ahead" in said("demo/ahead")


def test_what_holds_up_who_reads_committed_records(filled: Api) -> None:
    hanging = {
        "topic": "orders",
        "partition": 1,
        "first_offset": 7,
        "since": NOW - 30 * 60_000,
        "producer_id": 4001,
        "producer_epoch": 3,
        "hanging": True,
    }
    filled.measure("fine", late(30 * 60_000), open_transactions=[hanging])
    (told,) = filled.get("/api/v1/groups/demo/fine").json()["open_transactions"]
    assert told == {**hanging, "transactional_id": None}
    fragment = text(fact(page(filled, "/groups/demo/fine"), "Hanging transaction"))
    assert "producer 4001, epoch 3" in fragment
    assert "transaction" not in page(filled, "/groups/demo/billing").get_text()


def test_time_to_catch_up_is_told_when_it_will(filled: Api) -> None:
    filled.measure("fine", paced(5.0, 10.0, 10_000), time_to_catch_up_ms=10_000)
    soup = page(filled, "/groups/demo/fine")
    assert "catches up in about 10s at the current rate" in text(fact(soup, "Lag"))
    filled.measure("fine", paced(9.8, 10.0, 10_000), time_to_catch_up_ms=12_000_000)
    level = text(fact(page(filled, "/groups/demo/fine"), "Lag"))
    assert "catches up" not in level, "a rate varies by more than that"
    assert "catches up" not in page(filled, "/groups/demo/billing").get_text()


def test_the_list_tells_of_objectives_that_an_ok_group_does_not_keep(api: Api) -> None:
    def listed() -> list[str]:
        soup = page(api, "/?q=is:any")
        assert ("1 needs action" in text(soup)) == broken
        return [text(row) for row in soup.select("tbody tr")]

    for name in ("fine", "larger"):
        api.put(name, total_lag=len(name))
    broken = False
    assert "fine" in listed()[-1]
    breach = {
        "objective": "on-time",
        "limit": "max_freshness",
        "status": "ERR",
        "since": NOW - 120_000,
        "value": 700_000,
        "wanted": 300_000,
        "sentence": "orders/1 is 11m late at least",
    }
    kind = {"type": "warren.group.freshness.changed", "incident_id": "late-1"}
    api.change("fine", "ERR", NOW - 60_000, **kind, objectives=[breach])
    broken = True
    assert "orders/1 is 11m late at least" in listed()[0]
    assert text(page(api, "/groups/demo/fine").select_one(".subject .chip")) == "ERR"
    assert text(row_of(api, "fine").select_one(".chip")) == "ERR"
    assert text(page(api, "/clusters/demo").select_one("tbody .chip")) == "ERR"
    assert api.get("/clusters/demo").text.count("status%3Aerr") == 1
    found = api.get("/api/v1/groups", params={"q": "status:err"}).json()["groups"]
    assert [(one["group"], one["status"], one["severity"]) for one in found] == [
        ("fine", "OK", "ERR")
    ]
    looked_after = Acknowledgement(
        incident_id="late-1", cluster="demo", group="fine", by="ann", why="", at=NOW
    )
    api.model.silences.apply_acknowledgement(b"late-1", looked_after.to_bytes())
    broken = False
    assert "acknowledged" in listed()[0]
