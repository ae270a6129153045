"""Pages: all groups, and what pages have in common."""

import re

import pytest
from api.read_pages import NONE, STOPPED, cells, fill, page, row_of, text
from api.served_api import NOW, Api, late, topic
from warren.contracts import ClusterEvent
from warren.settings import ApiSettings, SavedFilter
from warren_api.model.cluster import FeedState
from warren_api.pages.overview import GROUPS_SHOWN
from warren_api.pages.routes import STATIC


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


@pytest.mark.parametrize("path", ["/?q=is:any", "/fragments/groups?q=is:any"])
def test_groups_worst_first_with_what_to_know_of_each(filled: Api, path: str) -> None:
    rows = page(filled, path).select("tbody tr")
    assert [cells(row)["Status"] for row in rows] == ["ERR", "WARN", "OK"]
    assert cells(rows[0]) == {
        "Status": "ERR",
        "Group": "billing demo",
        "Trouble": "Stopped kafka-consumer-groups --bootstrap-server "
        "broker:9092 --describe --group billing Copy 2 of 3 partitions: 2 STOP "
        "orders /1 STOP, lag 12,345 orders /2 STOP, lag 3 Acknowledge Silence for 1 hour",
        "Last hour": "",
        "Lag": "12,348",
        "Late": NONE,
        "Data loss in": NONE,
        "Since": "4m 15s 06:55 UTC",
    }


def test_opens_on_the_first_tab_that_has_something(filled: Api) -> None:
    def opened() -> tuple[str, list[str]]:
        soup = page(filled, "/")
        (tab,) = soup.select(".totals a[aria-current]")
        assert not soup.select_one("#q")["value"]  # type: ignore[index]
        return text(tab), [a.get_text() for a in soup.select("tbody th a")]

    assert opened() == ("Needs action 1", ["billing"])
    filled.put("billing")
    assert opened() == ("Warning 1", ["mailer"])
    filled.put("mailer", cluster="eu")
    assert opened() == ("OK 3", ["billing", "fine", "mailer"])


def test_status_is_never_colour_alone(filled: Api) -> None:
    for chip in page(filled, "/?q=is:any").select(".chip"):
        assert chip.get_text(strip=True)
        assert chip.svg is not None


def test_the_table_can_be_read_aloud(filled: Api) -> None:
    soup = page(filled, "/?q=is:any")
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


def test_the_cause_and_what_to_do_lead_a_row(filled: Api) -> None:
    cause = {"name": "no_members", "sentence": "nobody is in it", "action": "start <b>them</b>"}
    incident = {"id": "5b6a", "opened_at": NOW - 252_000}
    filled.put("billing", status="ERR", cause=cause, explanation="for 11s", incident=incident)
    filled.change("billing", "ERR", NOW - 11_000, previous="WARN", opened_at=NOW - 252_000)
    row = row_of(filled, "billing")
    assert cells(row)["Trouble"] == (
        "No members nobody is in it. start <b>them</b> "
        "kafka-consumer-groups --bootstrap-server broker:9092 "
        "--describe --group billing Copy Acknowledge Silence for 1 hour"
    )
    assert cells(row)["Since"] == "4m 15s 06:55 UTC ERR for 14s", "as long as the incident"
    unknown = {**cause, "name": "unknown"}
    filled.put("billing", status="ERR", cause=unknown, explanation="no commit for 11s")
    assert cells(row_of(filled, "billing"))["Trouble"].startswith("Not OK no commit for 11s. start")
    why = {"explanation": "no commit for 11s", "reason": "no_commit"}
    filled.put("billing", status="ERR", cause=unknown, **why)
    assert cells(row_of(filled, "billing"))["Trouble"].startswith(
        "Stopped no commit for 11s. start"
    )


def titles_of_since(api: Api, group: str) -> list[str]:
    (cell,) = row_of(api, group).select("[data-label=Since]")
    return [str(each["title"]) for each in cell.select("time:not(.clock)")]


def test_since_says_since_when_what(filled: Api) -> None:
    opened_at = NOW - 41 * 60_000
    assert titles_of_since(filled, "billing") == ["Not OK since 2026-11-21T06:55:48Z"]
    filled.put("slower", status="ERR", incident={"id": "5b6b", "opened_at": opened_at})
    filled.change("slower", "ERR", opened_at, opened_at=opened_at)
    assert cells(row_of(filled, "slower"))["Since"] == "41m 06:19 UTC", "no other status before"
    filled.change("slower", "ERR", NOW - 60_000, previous="WARN", opened_at=opened_at)
    assert cells(row_of(filled, "slower"))["Since"] == "41m 06:19 UTC ERR for 1m 3s"
    assert titles_of_since(filled, "slower") == [
        "Not OK since 2026-11-21T06:19:00Z",
        "ERR since 2026-11-21T06:59:00Z",
    ]
    filled.clock.advance(5)
    assert cells(row_of(filled, "slower"))["Since"] == "41m 06:19 UTC ERR for 1m 8s"
    filled.change("fine", "OK", NOW - 60_000, previous="ERR")
    assert titles_of_since(filled, "fine") == ["OK since 2026-11-21T06:59:00Z"]


def test_all_is_well_only_where_everything_is_ok(api: Api) -> None:
    def said() -> tuple[str, bool]:
        (line,) = page(api, "/").select(".headline")
        return text(line), "ok" in line.get_attribute_list("class")

    api.put("fine")
    assert said() == ("No group needs action", True)
    api.put("slow", status="WARN")
    assert said() == ("No group needs action · 1 warning", False)
    api.put("slow")
    api.feed = FeedState(ready=True, problem="no broker answers")
    assert said() == ("No group needs action", False)
    api.clock.advance(300)
    assert said() == ("No data: the status of 2 groups is unknown", False)
    api.put("new", evaluated_at=NOW + 300_000)
    assert said() == ("No group needs action · 2 unknown", False)


def test_what_changed_last(filled: Api) -> None:
    (said,) = page(filled, "/").select(".newest")
    assert text(said) == "No status change is remembered."
    filled.change("fine", "ERR", NOW - 90_000)
    filled.change("fine", "OK", NOW - 60_000, previous="ERR", opened_at=NOW - 90_000)
    filled.change("billing", "ERR", NOW - 45_000)
    (said,) = page(filled, "/").select(".newest")
    assert text(said) == ("Latest: billing OK → ERR, 48s ago. 1 incident ended in the last hour.")


def test_the_banner_says_of_clusters_without_groups_that_they_have_none(filled: Api) -> None:
    def refuses(cluster: str) -> None:
        event = ClusterEvent(
            cluster=cluster, collector="c", observed_at=NOW, state="unreachable", since=NOW
        )
        filled.model.apply_cluster(f"{cluster}|c".encode(), event.to_bytes())

    def banner(path: str = "/") -> str:
        (said,) = page(filled, path).select(".banner:not([hidden])")
        return text(said)

    refuses("new")
    assert banner().endswith("No group of it is known.")
    assert "last known" not in page(filled, "/").text
    refuses("newer")
    assert banner("/clusters/new").endswith("No group of it is known.")
    assert banner() == "2 clusters ( new , newer ) are in trouble. No group of theirs is known."
    refuses("demo")
    three = "3 clusters ( demo , new , newer )"
    assert banner() == f"{three} are in trouble. The groups of 1 show the last known state."
    assert banner("/clusters/demo").endswith("Its groups show the last known state.")
    filled.put("there", cluster="new")
    filled.put("there", cluster="newer")
    assert banner() == f"{three} show the last known state."


def names(api: Api, query: str) -> list[str]:
    return [a.get_text() for a in page(api, f"/?{query}").select("tbody th a")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort=lag", ["c", "b", "a"]),
        ("sort=lag&order=asc", ["a", "b", "c"]),
        ("sort=name&order=desc", ["c", "b", "a"]),
        ("sort=late", ["a", "b", "c"]),
        ("sort=late&order=asc", ["b", "a", "c"]),  # what is unknown stays last
        ("sort=loss", ["b", "a", "c"]),
        ("sort=since", ["b", "a", "c"]),
    ],
)
def test_every_column_sorts(api: Api, query: str, expected: list[str]) -> None:
    for number, name in enumerate("abc"):
        incident = {"id": name, "opened_at": NOW - 1_000 + number} if name != "c" else None
        api.put(name, total_lag=number, incident=incident)
    api.measure("a", late(9_000, time_to_loss_ms=9_000_000))
    api.measure("b", late(5_000, time_to_loss_ms=8_000_000))
    assert names(api, query) == expected
    column = query.partition("&")[0].removeprefix("sort=")
    (head,) = page(api, f"/?q=a&{query}").select("th[aria-sort]")
    (link,) = head.select("a")
    turned = page(api, str(link["href"])).select("th[aria-sort]")[0]
    assert turned["aria-sort"] != head["aria-sort"]
    assert f"sort={column}" in str(link["href"])
    assert "q=a" in str(link["href"]), "what was searched for stays"


def test_many_groups_have_pages(api: Api) -> None:
    for number in range(GROUPS_SHOWN + 5):
        api.put(f"group-{number:03}")
    first = page(api, "/?q=group&sort=name")
    assert len(first.select("tbody tr")) == GROUPS_SHOWN
    (following,) = first.select(".pages a")
    assert (following["rel"], following["href"]) == (["next"], "/?q=group&sort=name&page=2")
    last = page(api, str(following["href"]))
    assert [a.get_text() for a in last.select("tbody th a")] == [
        f"group-{number:03}" for number in range(GROUPS_SHOWN, GROUPS_SHOWN + 5)
    ]
    assert text(last.select(".pages")[0]) == "Previous 51 to 55 of 55"
    assert page(api, "/?page=99").select("tbody tr"), "beyond the end is the last page"


def test_a_banner_says_when_not_to_believe_the_page(filled: Api) -> None:
    assert not page(filled, "/").select(".banner:not([hidden])")
    filled.feed = FeedState(ready=True, problem="cluster home: no broker answers")
    for path in ("/", "/fragments/groups", "/groups/demo/billing"):
        (banner,) = page(filled, path).select(".banner:not([hidden])")
        assert "no broker answers" in text(banner)


@pytest.mark.parametrize("path", ["groups", "groups/demo/billing", "topics/demo/orders"])
def test_what_is_replaced_every_two_seconds_is_announced_when_it_changes(
    filled: Api, path: str
) -> None:
    def announced() -> str:
        soup = page(filled, f"/fragments/{path}")
        assert not soup.select("[role=alert], [role=status], [aria-live]")
        (live,) = soup.select("[data-announcement]")
        return str(live["data-announcement"])

    before = announced()
    filled.feed = FeedState(ready=True, problem="cluster home: no broker answers")
    assert announced() == f"Do not rely on this page. {before}"
    filled.put("billing", status="ERR", total_lag=99_999, evaluated_at=filled.clock.now_ms())
    filled.clock.advance(2)
    assert announced() == f"Do not rely on this page. {before}", "lag grows without a word"


def test_an_old_judgement_is_marked(filled: Api) -> None:
    assert not page(filled, "/?q=is:any").select(".judged")
    filled.clock.advance(26)
    marks = [text(mark) for mark in page(filled, "/?q=is:any").select("tbody tr .judged")]
    assert marks == ["judged 29s ago"] * 3
    filled.clock.advance(274)
    assert all(
        "last judged 5m 3s ago" in text(row)
        for row in page(filled, "/?q=is:any").select("tbody tr")
    )
    assert page(filled, "/").select(".banner:not([hidden])")


NASTY = "<script>alert(1)</script>\"/'&%"


def test_names_are_escaped_and_linked(api: Api) -> None:
    api.put(NASTY, topics={NASTY: topic(STOPPED)})
    for path in ("/", f"/?q={'%3Cscript%3E'}"):
        soup = page(api, path)
        assert [script["src"] for script in soup.select("script")] == [
            *["/static/refresh.js", "/static/keys.js", "/static/copy.js"]
        ]
    (link,) = page(api, "/?q=is:any").select("tbody th a")
    detail = page(api, str(link["href"]))
    assert detail.h1 is not None
    assert detail.h1.get_text() == NASTY
    live = detail.select_one("#live")
    assert live is not None
    assert NASTY in page(api, str(live["data-fragment"])).get_text()


ACTING = "pay\x1b[2J\nroll\u202egpj.exe"
SHOWN = "pay\u241b[2J\u240aroll\\u202egpj.exe"


def test_nothing_in_a_name_acts_on_a_page(api: Api) -> None:
    api.put(ACTING, status="ERR", explanation=f"{ACTING}/0: stuck", topics={ACTING: topic(STOPPED)})
    member = {"member_id": ACTING, "client_id": ACTING, "host": ACTING, "assignment": {ACTING: [0]}}
    api.describe(ACTING, members=[member])
    (link,) = page(api, "/?q=is:any").select("tbody th a")
    assert link.decode_contents() == f"<bdi>{SHOWN}</bdi>"
    for path in ("/", str(link["href"])):
        answer = api.get(path)
        assert "\x1b" not in answer.text
        assert "\u202e" not in answer.text
    shown = page(api, str(link["href"])).select("bdi")
    assert [tag.get_text() for tag in shown].count(SHOWN) >= 6


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
        assert all(link.startswith(("/", "#")) or link == "" for link in links)


def test_what_a_page_names_is_served(filled: Api) -> None:
    soup = page(filled, "/?q=is:any")
    named = {str(tag.get("src") or tag.get("href")) for tag in soup.select("[src], link[href]")}
    assert len(named) == 6
    script = (STATIC / "refresh.js").read_text()
    named |= {f"/static/{name}" for name in re.findall(r'from "\./([\w.]+)"', script)}
    for path in named:
        answer = filled.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-cache"


def test_it_updates_itself_and_says_of_when_it_is_without_javascript(filled: Api) -> None:
    """A reload every few seconds would take away what is ticked and typed."""
    soup = page(filled, "/?q=is:any")
    assert soup.select_one("[http-equiv=refresh]") is None
    beat = soup.select_one("#beat")
    assert beat is not None
    assert text(beat) == "As of 07:00 UTC Refresh"
    live = soup.select_one("#live")
    assert live is not None
    assert live["data-fragment"] == "/fragments/groups"
    script = (STATIC / "refresh.js").read_text()
    # The ids and data attributes that the script looks for are on the page.
    for name in re.findall(r'getElementById\("(\w+)"\)', script):
        assert soup.find(id=name) is not None, name


def test_share_groups_are_listed_without_a_lag(filled: Api) -> None:
    filled.describe("thumbnails", protocol="share")
    (listed,) = page(filled, "/?q=is:any").select(".not-judged li")
    assert text(listed) == "thumbnails demo 1 member; lag not defined by committed offsets"
    assert not page(filled, "/?q=mailer").select(".not-judged li")
    soup = page(filled, "/groups/demo/thumbnails")
    (why,) = soup.select(".why")
    assert text(why).startswith("Not judged: lag not defined by committed offsets.")
    assert len(soup.select(".members tbody tr")) == 1
    assert "Status" not in [text(term) for term in soup.select("dt")]
    assert page(filled, "/fragments/groups/demo/thumbnails").select("[data-announcement]")


@pytest.mark.parametrize("path", ["/", "/fragments/groups/demo/fine", "/incidents"])
def test_a_page_is_not_sent_again_while_it_says_the_same(filled: Api, path: str) -> None:
    first = filled.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    for known in (tag, f'"other", {tag}'):
        again = filled.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert "content-security-policy" in again.headers
    filled.put("fine", total_lag=77, evaluated_at=filled.clock.now_ms())
    filled.change("fine", "WARN", filled.clock.now_ms())
    filled.clock.advance(1)
    changed = filled.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["etag"] == tag) == (200, False)


def test_saved_filters_are_links() -> None:
    saved = [
        SavedFilter(name="<payments>", q='owner:"the payments team" status:bad'),
        SavedFilter(name="late", q="late:>5m"),
    ]
    api = Api(api=ApiSettings(filters=saved))
    api.put("billing")
    first, second = page(api, "/?sort=lag").select(".saved a")
    assert text(first) == "<payments>"
    assert not first.has_attr("aria-current")
    assert second["href"] == "/?q=late%3A%3E5m&sort=lag"
    there = page(api, str(first["href"]))
    assert there.select("#q")[0]["value"] == saved[0].q
    assert [text(a) for a in there.select(".saved [aria-current]")] == ["<payments>"]
    assert not page(Api(), "/").select(".saved")
