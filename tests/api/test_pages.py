from __future__ import annotations

import re
from typing import get_args

import pytest
from api.served_api import CAUGHT_UP, NOW, Api, late, topic
from bs4 import BeautifulSoup, Tag
from warren.contracts import FreshnessReason
from warren_api.model.feed_state import FeedState
from warren_api.pages.environment import REASONS
from warren_api.pages.routes import GROUPS_SHOWN, STATIC

NONE = "\u2013"
STOPPED = {"status": "STOP", "lag": 12_345, "committed_at": NOW - 252_000, "log_end": 12_445}


def page(api: Api, path: str, status_code: int = 200) -> BeautifulSoup:
    answer = api.get(path)
    assert answer.status_code == status_code
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return BeautifulSoup(answer.text, "html.parser")


def text(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def cells(row: Tag) -> dict[str, str]:
    return {str(cell["data-label"]): text(cell) for cell in row.select("[data-label]")}


@pytest.fixture
def filled(api: Api) -> Api:
    incident = {"id": "5b6a", "opened_at": NOW - 252_000}
    topics = {"orders": topic({}, STOPPED, {"status": "STOP", "lag": 3})}
    api.put("billing", status="ERR", total_lag=12_348, incident=incident, topics=topics)
    api.put("mailer", status="WARN", cluster="eu", complete=0.999)
    api.put("fine")
    api.clock.advance(3)
    return api


@pytest.mark.parametrize("path", ["/", "/fragments/groups"])
def test_groups_worst_first_with_what_to_know_of_each(filled: Api, path: str) -> None:
    rows = page(filled, path).select("tbody tr")
    assert [cells(row)["Status"] for row in rows] == ["ERR", "WARN", "OK"]
    assert cells(rows[0]) == {
        "Status": "ERR",
        "Group": "billing demo",
        "Since": "4 m 15 s",
        "Lag": "12,348",
        "Late": NONE,
        "Until loss": NONE,
        "Worst partition": "STOP orders / 1 stopped committing; 12,345 behind; "
        "2 of 3 partitions not OK",
        "Complete": "100 %",
        "Judged": "3 s ago",
    }
    # A share that is not whole never reads 100 %.
    assert cells(rows[1])["Complete"] == "99 %"


def test_counters(filled: Api) -> None:
    totals = [text(total) for total in page(filled, "/").select(".totals li")]
    assert totals == ["1 ERR", "1 WARN", "1 OK", "3 groups on 2 clusters"]


def test_status_is_never_colour_alone(filled: Api) -> None:
    for chip in page(filled, "/").select(".chip"):
        assert chip.get_text(strip=True)
        assert chip.svg is not None


def test_the_table_can_be_read_aloud(filled: Api) -> None:
    soup = page(filled, "/")
    assert soup.html is not None
    assert soup.html["lang"] == "en"
    assert soup.select_one("table caption") is not None
    assert all(header["scope"] == "col" for header in soup.select("thead th"))
    assert all(header["scope"] == "row" for header in soup.select("tbody th"))
    announcement = soup.select_one("[aria-live=polite]")
    assert announcement is not None
    assert announcement.find_parent(id="live") is None, "replacing it would repeat it"
    for control in soup.select("form input, form select"):
        assert soup.select_one(f'label[for="{control["id"]}"]') is not None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=BILL", ["billing"]),
        ("q=eu/", ["mailer"]),
        ("status=OK", ["fine"]),
        ("status=bad", ["billing", "mailer"]),
        ("q=i&status=bad", ["billing", "mailer"]),
        ("q=nobody", []),
    ],
)
def test_filters(filled: Api, query: str, expected: list[str]) -> None:
    soup = page(filled, f"/fragments/groups?{query}")
    assert [a.get_text() for a in soup.select("tbody th a")] == expected
    # The counters stay those of all groups.
    assert len(soup.select(".totals li")) == 4


def test_a_filter_that_does_not_exist_is_refused(api: Api) -> None:
    assert api.get("/?status=NICE").status_code == 422
    assert api.get("/", params={"q": "x" * 301}).status_code == 422


def test_many_groups_are_cut_and_say_so(api: Api) -> None:
    for number in range(GROUPS_SHOWN + 5):
        api.put(f"group-{number}")
    soup = page(api, "/")
    assert len(soup.select("tbody tr")) == GROUPS_SHOWN
    note = soup.select_one(".note")
    assert note is not None
    assert text(note) == "The worst 200 of 205 groups. Filter to see others."


def test_nothing_yet(api: Api) -> None:
    assert "No consumer group has been seen yet" in page(api, "/").get_text()
    api.feed = FeedState(ready=False, problem=None)
    assert "Reading" in page(api, "/").get_text()


def test_a_banner_says_when_not_to_believe_the_page(filled: Api) -> None:
    assert not page(filled, "/").select(".banner:not([hidden])")
    filled.feed = FeedState(ready=True, problem="cluster home: no broker answers")
    for path in ("/", "/fragments/groups", "/groups/demo/billing"):
        (banner,) = page(filled, path).select(".banner:not([hidden])")
        assert "no broker answers" in text(banner)


def test_an_old_judgement_is_marked(filled: Api) -> None:
    filled.clock.advance(300)
    assert all(
        cells(row)["Judged"] == "5 m 3 s ago old" for row in page(filled, "/").select("tbody tr")
    )
    assert page(filled, "/").select(".banner:not([hidden])")


def test_one_group_with_its_partitions_worst_first(filled: Api) -> None:
    soup = page(filled, "/groups/demo/billing")
    rows = soup.select("tbody tr")
    assert [cells(row)["Partition"] for row in rows] == ["orders / 1", "orders / 2", "orders / 0"]
    assert cells(rows[0]) == {
        "Status": "STOP stopped committing",
        "Partition": "orders / 1",
        "Owner": NONE,
        "Lag": "12,345",
        "Late": NONE,
        "Until loss": NONE,
        "Committed": "100",
        "Log end": "12,445",
        "Log start": "0",
        "Last commit": "4 m 15 s ago",
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


NASTY = "<script>alert(1)</script>\"/'&%"


def test_names_are_escaped_and_linked(api: Api) -> None:
    api.put(NASTY, topics={NASTY: topic(STOPPED)})
    for path in ("/", f"/?q={'%3Cscript%3E'}"):
        soup = page(api, path)
        assert [script["src"] for script in soup.select("script")] == ["/static/refresh.js"]
    (link,) = page(api, "/").select("tbody th a")
    detail = page(api, str(link["href"]))
    assert detail.h1 is not None
    assert detail.h1.get_text() == NASTY
    live = detail.select_one("#live")
    assert live is not None
    assert NASTY in page(api, str(live["data-fragment"])).get_text()


def test_nothing_inline_and_nothing_from_elsewhere(filled: Api) -> None:
    answer = filled.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/", "/groups/demo/billing"):
        soup = page(filled, path)
        assert not soup.select("style, [style], script:not([src])")
        assert not [n for tag in soup.find_all(True) for n in tag.attrs if n.startswith("on")]
        links = [str(tag.get("src") or tag.get("href")) for tag in soup.select("[src], [href]")]
        assert all(link.startswith(("/", "#")) for link in links)


def test_what_a_page_names_is_served(filled: Api) -> None:
    soup = page(filled, "/")
    named = {str(tag.get("src") or tag.get("href")) for tag in soup.select("[src], link[href]")}
    assert len(named) == 3
    for path in named:
        answer = filled.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-cache"


def test_it_updates_itself_with_and_without_javascript(filled: Api) -> None:
    soup = page(filled, "/")
    assert soup.select_one("noscript meta[http-equiv=refresh]") is not None
    live = soup.select_one("#live")
    assert live is not None
    assert live["data-fragment"] == "/fragments/groups"
    script = (STATIC / "refresh.js").read_text()
    # The ids and data attributes that the script looks for are on the page.
    for name in re.findall(r'getElementById\("(\w+)"\)', script):
        assert soup.find(id=name) is not None, name


def test_times_are_given_for_machines_too(filled: Api) -> None:
    moments = [str(time["datetime"]) for time in page(filled, "/").select("time")]
    assert moments
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moment) for moment in moments)


HOUR = 3_600_000


@pytest.fixture
def measured(filled: Api) -> Api:
    expired = late(HOUR, reason="expired", lost_records=1_204, time_to_loss_ms=60_000)
    filled.measure("billing", late(42_000, time_to_loss_ms=9 * HOUR), expired, CAUGHT_UP)
    filled.measure("fine", CAUGHT_UP)
    return filled


def row_of(api: Api, group: str) -> Tag:
    (row,) = page(api, f"/?q={group}").select("tbody tr")
    return row


def fact(soup: BeautifulSoup, name: str) -> Tag:
    (found,) = [fact for fact in soup.select(".facts > div") if text(fact).startswith(name)]
    return found


def test_how_late_and_what_is_lost_is_on_both_pages(measured: Api) -> None:
    row = row_of(measured, "billing")
    assert (cells(row)["Late"], cells(row)["Until loss"]) == ("1 h", "lost 1,204")
    soup = page(measured, "/groups/demo/billing")
    assert text(fact(soup, "Late")) == "Late 1 h orders / 1"
    assert text(fact(soup, "Until loss")) == "Until loss lost 1,204"
    assert text(fact(soup, "Freshness measured")) == "Freshness measured 3 s ago"
    by_partition = {
        cells(row)["Partition"]: (cells(row)["Late"], cells(row)["Until loss"])
        for row in soup.select("tbody tr")
    }
    assert by_partition == {
        "orders / 0": ("42 s", "9 h"),
        "orders / 1": ("1 h", "lost 1,204"),
        "orders / 2": ("0 s", NONE),
    }


@pytest.mark.parametrize(
    ("partition", "shown", "red"),
    [
        (CAUGHT_UP, NONE, False),
        (late(9, time_to_loss_ms=HOUR), "1 h", False),
        (late(9, time_to_loss_ms=HOUR - 1), "59 m 59 s", True),
        (late(9, lost_records=3), "lost 3", True),
    ],
)
def test_what_will_be_lost_within_the_hour_is_red(
    filled: Api, partition: dict[str, object], shown: str, red: bool
) -> None:
    filled.measure("billing", CAUGHT_UP, CAUGHT_UP, partition)
    (cell,) = row_of(filled, "billing").select('[data-label="Until loss"]')
    assert (text(cell), "loss" in cell["class"]) == (shown, red)
    soup = page(filled, "/groups/demo/billing")
    assert ("loss" in fact(soup, "Until loss").get_attribute_list("class")) == red
    detail = [row for row in soup.select("tbody tr") if cells(row)["Partition"] == "orders / 2"]
    (cell,) = detail[0].select('[data-label="Until loss"]')
    assert (text(cell), "loss" in cell["class"]) == (shown, red)


def test_groups_that_lose_data_are_counted_and_found(measured: Api) -> None:
    (tile,) = page(measured, "/").select(".totals a[href='/?status=losing']")
    assert text(tile) == "1 losing data"
    soup = page(measured, "/?status=losing")
    assert [a.get_text() for a in soup.select("tbody th a")] == ["billing"]
    measured.measure("billing", CAUGHT_UP)
    assert not page(measured, "/").select(".totals a[href='/?status=losing']")


def test_an_unknown_part_is_said_with_the_reason(filled: Api) -> None:
    unreadable = late(None, reason="not_authorised", bound_ms=2 * HOUR)
    filled.measure("billing", late(42_000), unreadable, CAUGHT_UP)
    assert cells(row_of(filled, "billing"))["Late"] == "> 2 h not allowed to read the topic"
    soup = page(filled, "/groups/demo/billing")
    assert text(fact(soup, "Late")) == "Late > 2 h not allowed to read the topic"
    assert "> 2 h not allowed to read the topic" in [
        cells(row)["Late"] for row in soup.select("tbody tr")
    ]
    filled.measure("billing", late(None, reason="no_commit", bound_ms=None, committed=-1))
    assert cells(row_of(filled, "billing"))["Late"] == f"{NONE} never committed"


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(get_args(FreshnessReason))


def test_freshness_that_was_measured_long_ago_is_marked(measured: Api) -> None:
    (cell,) = row_of(measured, "fine").select('[data-label="Late"]')
    assert "stale" not in cell["class"]
    measured.clock.advance(28)
    row = row_of(measured, "fine")
    (cell,) = row.select('[data-label="Late"]')
    assert "stale" in cell["class"]
    assert text(cell) == "0 s old"
    (mark,) = cell.select("em")
    assert str(mark["title"]).startswith("Measured 31 s ago")
    assert cells(row_of(measured, "billing"))["Until loss"] == "lost 1,204 old"
    soup = page(measured, "/groups/demo/billing")
    assert text(fact(soup, "Late")) == "Late 1 h old orders / 1"
    assert "stale" in fact(soup, "Until loss")["class"]


WHY = "orders/1: no commit for 4 m 12 s, usual pause 5 s; 12,345 records behind"


@pytest.fixture
def explained(filled: Api) -> Api:
    """billing says why; its members and its past are known."""
    why = {"reason": [None, "no_commit"], "explanation": [None, "no commit for 4 m 12 s"]}
    topics = {"orders": {**topic({}, STOPPED), **why}}
    filled.put("billing", status="ERR", explanation=WHY, topics=topics)
    idle = {"member_id": "m-2", "client_id": "billing-2", "host": "/10.0.0.2"}
    owner = {**idle, "member_id": "m-1", "client_id": "billing-1", "assignment": {"orders": [1]}}
    filled.describe("billing", members=[idle, owner], idle_members=1, unowned={"orders": [0]})
    filled.change("billing", "ERR", NOW - 252_000, explanation=WHY)
    filled.change("billing", "NOTFOUND", NOW - 9_000_000, previous="ERR", reason="group_expired")
    return filled


def test_why_is_the_first_thing_on_the_page_of_a_group(explained: Api) -> None:
    soup = page(explained, "/groups/demo/billing")
    (why,) = soup.select(".why")
    assert text(why) == f"Why: {WHY}"
    assert why.find_next("dl") is not None
    assert WHY in cells(row_of(explained, "billing"))["Worst partition"]
    (stopped,) = soup.select(".partitions tbody tr.stop")
    assert cells(stopped)["Status"] == "STOP no commit for 4 m 12 s"
    assert not page(explained, "/groups/demo/fine").select(".why")


def test_members_the_one_to_look_at_first(explained: Api) -> None:
    soup = page(explained, "/groups/demo/billing")
    stuck, idle = [cells(row) for row in soup.select(".members tbody tr")]
    assert (stuck["Status"], stuck["Client"], stuck["Partitions"]) == ("STOP", "billing-1", "1")
    assert (stuck["Host"], stuck["Lag"]) == ("/10.0.0.2", "12,345")
    assert (idle["Status"], idle["Client"], idle["Partitions"]) == (NONE, "billing-2", "0")
    owners = {
        cells(row)["Partition"]: cells(row)["Owner"] for row in soup.select(".partitions tr")[1:]
    }
    assert owners == {"orders / 1": "billing-1 /10.0.0.2", "orders / 0": "nobody"}
    assert text(fact(soup, "Owned by nobody")) == "Owned by nobody orders / 0"
    assert text(fact(soup, "Members")) == "Members 2 1 without a partition"


def test_what_happened_to_a_group_newest_first(explained: Api) -> None:
    items = [text(item) for item in page(explained, "/groups/demo/billing").select(".history li")]
    assert items == [
        f"4 m 15 s ago ERR after OK: {WHY}",
        "2 h 30 m ago NOTFOUND after ERR: group expired",
    ]
    assert not page(explained, "/groups/demo/fine").select(".history")


def test_a_page_says_whether_to_believe_it(explained: Api) -> None:
    def said(name: str) -> str:
        return text(fact(page(explained, f"/groups/{name}"), "To be believed?"))

    assert said("demo/fine").startswith("To be believed? Yes: judged 3 s ago")
    assert "Only 99 % of its partitions have a full window" in said("eu/mailer")
    explained.put("fine", topics={"orders": topic({"lag": None, "log_end": -1})})
    assert "The lag of 1 partition is not known." in said("demo/fine")
    explained.clock.advance(300)
    assert "With care. It was judged 5 m 3 s ago." in said("demo/fine")


def test_time_to_catch_up_is_told_when_it_will(filled: Api) -> None:
    for second, lag in ((0, 100), (10, 50)):
        row = {"committed": second * 10, "log_end": second * 10 + lag, "lag": lag}
        filled.put("fine", evaluated_at=NOW + second * 1000, topics={"orders": topic(row)})
    soup = page(filled, "/groups/demo/fine")
    assert text(fact(soup, "Caught up in")) == "Caught up in 10 s if rates stay as they are"
    assert "Caught up in" not in page(filled, "/groups/demo/billing").get_text()


def test_share_groups_are_listed_without_a_lag(filled: Api) -> None:
    filled.describe("thumbnails", protocol="share")
    (listed,) = page(filled, "/").select(".not-judged li")
    assert text(listed) == "thumbnails demo 1 member; lag not defined by committed offsets"
    assert not page(filled, "/?q=billing").select(".not-judged li")
    soup = page(filled, "/groups/demo/thumbnails")
    (why,) = soup.select(".why")
    assert text(why).startswith("Not judged: lag not defined by committed offsets.")
    assert len(soup.select(".members tbody tr")) == 1
    assert "Status" not in [text(term) for term in soup.select("dt")]
    assert page(filled, "/fragments/groups/demo/thumbnails").select("[data-announcement]")
