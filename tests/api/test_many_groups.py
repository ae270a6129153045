"""What is done to many groups at once from the overview, without any script."""

from urllib.parse import urlencode

import httpx
import pytest
import re2
from api.read_pages import cells, page, text
from api.served_api import NOW, Api, late
from bs4 import BeautifulSoup, Tag
from warren.settings import ClusterSettings, ObjectiveSettings, Settings
from warren_api.pages.many import expressions, named
from warren_api.pages.sentences import LONGEST, alternations, in_words, names_in

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost"}


@pytest.fixture
def api() -> Api:
    clusters = {name: ClusterSettings(bootstrap=f"{name}:9092") for name in ("demo", "eu")}
    objective = ObjectiveSettings(name="all", groups=["^pay"], max_freshness=60, owner="payments")
    api = Api(settings=Settings(clusters=clusters, objectives=[objective]))
    for n, name in enumerate(("pay-1", "pay-2", "search")):
        api.put(name, status="ERR", incident={"id": f"i-{n}", "opened_at": NOW})
    api.put("pay-1", cluster="eu")
    return api


def post(api: Api, *said: tuple[str, str]) -> httpx.Response:
    return api.request("POST", "/groups", content=urlencode(said), headers=FORM)


def done(api: Api, answer: httpx.Response) -> Tag:
    """What the page says to which an answer leads, once."""
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    shown = api.get(answer.headers["Location"], headers={"Cookie": cookie})
    assert 'warren_done=""' in shown.headers["Set-Cookie"]
    (said,) = BeautifulSoup(shown.text, "html.parser").select(".done")
    return said


def silenced(api: Api) -> list[tuple[str, str]]:
    in_force = api.model.silences.in_force(NOW)
    names = sorted((each.cluster, each.group) for each in api.model.groups())
    return [name for name in names if in_force.of(*name)]


def test_those_that_are_ticked_are_silenced_and_no_other(api: Api) -> None:
    boxes = [str(box["value"]) for box in page(api, "/").select("tbody .tick input")]
    assert boxes == ["demo/pay-1", "demo/pay-2", "demo/search"]
    ticked = [("group", boxes[0]), ("group", boxes[2])]
    answer = post(api, *ticked, ("ticked", "8h"), ("back", "/?q=is:action"))
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/?q=is:action"
    assert silenced(api) == [("demo", "pay-1"), ("demo", "search")]
    assert {s.ends_at - s.begins_at for s in api.model.silences.all()} == {8 * 3_600_000}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([("ticked", "1h")], "No group is ticked."),
        ([("ticked", "9y"), ("group", "demo/pay-1")], "No silence lasts"),
        ([("all", "1h"), ("q", "nothing-like-it")], "No group is ticked."),
        ([], "No group is ticked."),
        ([("one", "1h nope/nope")], "Warren knows no such group"),
    ],
)
def test_what_is_not_possible_is_said(api: Api, said: list[tuple[str, str]], problem: str) -> None:
    answer = post(api, *said, ("back", "https://evil.example/"))
    assert answer.status_code == 303, "a reload asks for nothing again"
    shown = api.get(answer.headers["Location"])
    assert shown.status_code == 200
    assert problem in shown.text
    assert "evil" not in shown.text
    assert not api.model.silences.all()


def test_a_group_that_comes_later_is_not_silenced(api: Api) -> None:
    api.put("audit", cluster="eu", status="ERR")
    post(api, ("group", "demo/pay-1"), ("group", "eu/audit"), ("ticked", "7d"))
    api.put("audit", cluster="demo", status="ERR")
    api.put("search", cluster="eu")
    assert silenced(api) == [("demo", "pay-1"), ("eu", "audit")]


def test_all_of_an_owner_are_silenced_at_once_those_that_come_later_too(api: Api) -> None:
    (row,) = page(api, "/?q=pay-2").select("tbody tr")
    (link,) = row.select(".more .button")
    shown = page(api, str(link["href"]))
    assert text(shown.h1) == "Silence all of payments"  # type: ignore[arg-type]
    assert text(shown.select("form.asking button")[-1]) == "Silence 3 groups"
    assert not api.model.silences.all(), "a look changes nothing"
    said = [(str(each["name"]), str(each["value"])) for each in shown.select(".asking input")]
    answer = api.request(
        "POST", "/silences/new", content=urlencode([*said, ("length", "1h")]), headers=FORM
    )
    assert answer.headers["Location"] == "/?q=pay-2"
    assert text(done(api, answer)).startswith("3 groups silenced until ")
    api.put("pay-new", cluster="eu", status="ERR")
    found = [("demo", "pay-1"), ("demo", "pay-2"), ("eu", "pay-1"), ("eu", "pay-new")]
    assert silenced(api) == found
    (listed,) = page(api, "/silences").select("tbody tr")
    assert cells(listed)["Silenced"] == "all of payments"
    assert cells(listed)["Groups"] == "4"
    assert cells(listed)["Until"].startswith("2026-11-21 08:00 UTC")


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("group=%28a", "not a regular expression"),
        ("group=^pay&cluster=^eu", "Silence 1 group"),
        ("group=nothing-like-it", "0 groups now"),
        ("", "New silence"),
    ],
)
def test_a_new_silence_shows_what_it_matches(api: Api, q: str, said: str) -> None:
    assert said in text(page(api, f"/silences/new?{q}"))


def test_a_silenced_group_that_loses_data_is_handled_in_list_and_headline(api: Api) -> None:
    api.measure("search", late(60_000, lost_records=7))
    post(api, ("one", "1h demo/search"))
    shown = page(api, "/?q=is:any")
    assert "1 losing data (1 handled)" in text(shown.select(".headline")[0])
    assert text(shown.select(".totals a")[2]) == "Handled 1"


def test_one_silence_serves_clusters_of_which_the_same_groups_are_ticked() -> None:
    wanted = [(cluster, group) for cluster in ("a", "b") for group in ("x", "y")]
    assert expressions([*wanted, ("c", "x")]) == [("^(?:a|b)$", "^(?:x|y)$"), ("^c$", "^x$")]


def test_the_answer_says_what_was_done_and_takes_it_back(api: Api) -> None:
    answer = post(api, ("group", "demo/pay-1"), ("group", "eu/pay-1"), ("ticked", "8h"))
    said = done(api, answer)
    (silence,) = api.model.silences.all()
    assert text(said).startswith("2 groups silenced until ")
    assert said.select(f"a[href='/silences/{silence.id}']")
    (undo,) = said.select("button[name=end]")
    answer = post(api, ("end", str(undo["value"])), ("back", "/?q=pay"))
    assert not silenced(api)
    said = done(api, answer)
    assert text(said) == "1 silence ended."
    assert not page(api, "/?q=pay").select(".done")


def test_an_acknowledgement_is_taken_back_and_no_other(api: Api) -> None:
    post(api, ("one", "acknowledge demo/search"))
    clock = api.clock
    clock.advance(1_000)
    answer = post(api, *[("group", f"demo/pay-{n}") for n in (1, 2)], ("ticked", "acknowledge"))
    said = done(api, answer)
    assert text(said) == "2 groups acknowledged. Undo"
    (undo,) = said.select("button[form=many]")
    taken_back = (str(undo["name"]), str(undo["value"]))
    answer = post(api, taken_back, ("back", "/?q=pay"))
    found = api.model.silences.acknowledgement
    assert [bool(found(f"i-{n}")) for n in range(3)] == [False, False, True]
    assert answer.headers["Location"] == "/?q=pay"
    said = done(api, answer)
    assert text(said) == "2 acknowledgements withdrawn."
    assert not said.select("button")
    answer = post(api, taken_back)
    said = done(api, answer)
    assert text(said) == "No acknowledgement withdrawn."
    assert found("i-2")


def test_expressions_match_these_and_no_other() -> None:
    known = [(cluster, f"g.{n}") for cluster in ("a", "b", "c") for n in range(200)]
    wanted = [name for name in known if name[0] == "a" or name == ("b", "g.7")]
    pairs = expressions(wanted)
    assert max(len(part) for pair in pairs for part in pair) <= LONGEST
    found = [
        (cluster, group)
        for cluster, group in (*known, ("a", "gx1"), ("aa", "g.1"))
        if any(re2.search(one, cluster) and re2.search(two, group) for one, two in pairs)
    ]
    assert found == wanted
    product = expressions(known)
    assert len(product) == len(alternations(group for _, group in known))


def test_what_is_no_name_is_left_out() -> None:
    assert named(["demo/a%2Fb", "eu/,..", "demo", ""]) == [("demo", "a/b"), ("eu", "..")]


def test_a_list_of_names_is_read_as_names() -> None:
    names = sorted({"a.b", "c|d", "e\\", "f g", "ü", "x"})
    assert [name for each in alternations(names) for name in names_in(each)] == names
    assert in_words(alternations(names)[0]) == "a.b, c|d, e\\ and 3 more"
    assert in_words("^a.b$") == "^a.b$"
    assert in_words("^(?:a|b.*)$") == "^(?:a|b.*)$"
    assert in_words("") == "all"
