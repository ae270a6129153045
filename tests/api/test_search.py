"""What is written into the search field."""

import pytest
from api.read_pages import fill, page, text
from api.served_api import NOW, Api, late, topic
from bs4 import BeautifulSoup
from warren.contracts import Silence
from warren.settings import ClusterSettings, ObjectiveSettings, Settings
from warren_api.search import GroupSearch

HOUR = 3_600_000


@pytest.fixture
def api() -> Api:
    """billing ERR and 1 h late, mailer WARN on cluster eu, fine OK with lag 500, a:b OK."""
    settings = Settings(
        clusters={"demo": ClusterSettings(bootstrap="broker:9092")},
        objectives=[
            ObjectiveSettings(name="all", max_freshness=60),
            ObjectiveSettings(name="b", groups=["^bill"], max_freshness=60, owner="Team <Pay>"),
        ],
    )
    api = fill(Api(settings=settings))
    api.measure("billing", late(HOUR, time_to_loss_ms=HOUR // 2))
    member = {"member_id": "m", "client_id": "Billing-7", "host": "/10.9.8.7"}
    api.describe("billing", members=[member])
    api.put("fine", total_lag=500, topics={"payments": topic({})})
    api.put("a:b")
    api.change("billing", "ERR", NOW - 60_000, previous="WARN", opened_at=NOW - 252_000)
    return api


def found(api: Api, q: str) -> list[str]:
    answer = api.get("/", params={"q": q})
    assert answer.status_code == 200
    rows = page(api, str(answer.url)).select("tbody th a")
    return sorted(a.get_text() for a in rows)


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("", ["billing"]),  # the first tab
        ("is:any", ["a:b", "billing", "fine", "mailer"]),
        ("BILL", ["billing"]),
        ("payments", ["fine"]),  # a topic
        ("billing-7", ["billing"]),  # a client
        ("10.9.8", ["billing"]),  # a host
        ("client:billing-7 host:10.9", ["billing"]),
        ("group:10.9", []),
        ("topic:orders status:ok", ["a:b"]),
        ("status:err,warn", ["billing", "mailer"]),
        ("status:bad -cluster:eu", ["billing"]),
        ("-status:ok", ["billing", "mailer"]),
        ("late:>10m", ["billing"]),
        ("late:>1h", []),
        ("late:>=1h", ["billing"]),
        ("late:<30m", []),  # of the others nobody knows
        ("loss:<1h", ["billing"]),
        ("lag:>1000", ["billing"]),
        ("lag:500", ["billing", "fine"]),
        ("lag:=500", ["fine"]),
        ("lag:<1k -lag:=500", ["a:b", "mailer"]),
        ("since:>4m", ["billing"]),  # not OK for so long, ERR for a minute
        ("owner:pay", ["billing"]),
        ('owner:"team <pay>"', ["billing"]),
        ("is:losing", []),
        ("is:endangered", ["billing"]),
        ("is:action,handled", ["billing"]),
        ("a:b", ["a:b"]),  # no key: names have colons
        ('"demo/fi"', ["fine"]),
        ("group:=fine,=mail", ["fine"]),
        ("group:=fin", []),
        ("group:=FINE,mailer cluster:=demo", ["fine"]),
        ('group:="a:b"', ["a:b"]),
        ('group:"billing,fine"', []),  # one name
        ("=fine", []),  # a word
        ("-cluster:=e", ["a:b", "billing", "fine", "mailer"]),
        ("fine billing", []),
    ],
)
def test_what_is_found(api: Api, q: str, expected: list[str]) -> None:
    assert found(api, q) == expected


@pytest.mark.parametrize(
    ("q", "problem"),
    [
        ("status:er", "status: needs one of bad, err, warn, unknown, ok."),
        ("late:>soon", "late: needs a duration, e.g. late:>10m."),
        ("late:5", "late: needs a duration, e.g. late:>10m."),
        ("lag:<b>", "lag: needs a number, e.g. lag:>1000."),
        (
            "is:gone",
            "is: needs one of any, action, warning, handled, unknown, ok, losing, endangered, "
            "acknowledged, silenced, empty.",
        ),
    ],
)
def test_what_is_not_understood_is_said(api: Api, q: str, problem: str) -> None:
    soup = page(api, str(api.get("/", params={"q": q}).url))
    assert [text(said) for said in soup.select(".problem")] == [problem]
    assert not soup.select("tbody tr")
    field = soup.select_one("#q")
    assert field is not None
    assert field["value"] == q


KEYS = "cluster, group, topic, client, host, owner, cause, status, is, late, loss, since, lag"


@pytest.mark.parametrize(
    ("q", "hints"),
    [
        ("staus:err", ["Unknown filter “staus:” — did you mean status:?"]),
        ("-grop:=fine", ["Unknown filter “grop:” — did you mean group:?"]),
        ("STATUS=err", ["Unknown filter “status=” — did you mean status:?"]),
        ('Clutser:"demo"', ["Unknown filter “clutser:” — did you mean cluster:?"]),
        ("foo:bar", [f"Unknown filter “foo:” — there are: {KEYS}."]),
        ("time_lag:>5 a:b", [f"Unknown filter “time_lag:” — there are: {KEYS}."]),
        ("a:b", []),  # a name
        ("a:b fine", []),  # both are names, though nothing has both
        ('"foo:bar"', []),  # a word, as the quotes say
        ("10.9.8.7:9092", []),
        ("nobody", []),
        ("foo:", []),
        ("cluster:nope is:action", ["Nothing here has cluster:nope"]),
        ("owner:nope", ["Nothing here has owner:nope"]),
        ("-topic:nope", []),
    ],
)
def test_a_word_with_a_colon_that_finds_nothing_is_said_to_be_no_key(
    api: Api, q: str, hints: list[str]
) -> None:
    soup = page(api, str(api.get("/", params={"q": q}).url))
    for link in soup.select(".problem a"):  # what was meant
        assert not page(api, str(link["href"])).select(".problem")
        link.decompose()
    assert [text(said) for said in soup.select(".problem")] == hints
    assert not (hints and soup.select(".headline.ok")), "a typo is no all-clear"
    if hints:
        assert counted(soup) == counted(page(api, "/")) != ["All 0"], "counts stay as they are"
    assert api.get("/api/v1/groups", params={"q": q}).json()["hints"] == hints


def counted(soup: BeautifulSoup) -> list[str]:
    return [said for tab in soup.select(".totals a") if (said := text(tab)).startswith("All")]


def test_the_name_of_a_group_without_a_verdict_may_have_a_colon(api: Api) -> None:
    api.describe("new:b", members=[{"member_id": "m", "client_id": "c", "host": "h"}])
    assert not page(api, "/?q=new:b").select(".problem")


def test_lists_of_topics_and_incidents_say_it_too(api: Api) -> None:
    (said,) = page(api, "/topics?q=-clutser:demo").select(".problem")
    expected = "Unknown filter “clutser:” — did you mean cluster:?"
    assert text(said) == expected
    assert page(api, "/topics?q=-clutser:demo").select("tbody tr"), "no name has it"
    assert not page(api, "/topics?q=pay").select(".problem")
    (said,) = page(api, "/incidents?q=caus:x").select(".problem")
    assert text(said) == "Unknown filter “caus:” — did you mean cause:?"


def silence(api: Api, groups: str) -> None:
    said = Silence(
        id="s",
        cluster="",
        group=groups,
        begins_at=NOW,
        ends_at=NOW + HOUR,
        by="ada",
        why="x",
        created_at=NOW,
    )
    api.model.silences.apply(b"s", said.to_bytes())


def test_what_people_have_said_is_found(api: Api) -> None:
    silence(api, "^fine$")
    assert found(api, "is:silenced") == ["fine"]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("thumb", ["thumbnails"]),
        ("demo/thumb", ["thumbnails"]),
        ("-thumb", ["bills-new"]),
        ("group:=thumbnails", ["thumbnails"]),
        ("group:=thumb", []),
        ("cluster:=demo", ["bills-new", "thumbnails"]),
        ("cluster:=eu", []),
        ("topic:images", ["thumbnails"]),  # assigned
        ("images", ["thumbnails"]),
        ("topic:=later", ["bills-new"]),  # subscribed
        ("client:=resizer", ["thumbnails"]),
        ("resizer 10.9", ["thumbnails"]),
        ("host:10.9 -client:resizer", []),
        ("owner:pay", ["bills-new"]),
        ("is:silenced", ["bills-new"]),
        ("is:empty", []),
        ("status:ok", []),
        ("status:bad", []),
        ("-status:ok", ["bills-new", "thumbnails"]),
        ("late:>0s", []),
        ("lag:<9 thumb", []),
        ("loss:>0s", []),
        ("since:>0s", []),
        ("cause:a", []),
        ("is:losing", []),
        ("is:acknowledged", []),
        ("status:er", []),  # not understood
    ],
)
def test_groups_without_a_verdict_are_found_by_what_is_known_of_them(
    api: Api, q: str, expected: list[str]
) -> None:
    images = {"client_id": "Resizer", "host": "/10.9.1.1", "assignment": {"images": [0]}}
    api.describe("thumbnails", protocol="share", members=[{"member_id": "m", **images}])
    member = {"member_id": "m", "client_id": "c", "host": "/10.1.1.1", "subscription": ["later"]}
    api.describe("bills-new", members=[member])
    silence(api, "^bills-new$")
    soup = page(api, str(api.get("/", params={"q": q}).url))
    assert [a.get_text() for a in soup.select(".not-judged li a")] == expected
    assert any(text(h) == "Not judged" for h in soup.select("h2")) == bool(expected)


def test_an_owner_is_shown(api: Api) -> None:
    (row,) = page(api, "/?q=billing").select("tbody tr")
    assert "demo · Team <Pay>" in text(row)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("status:", "status: needs one of bad, err"),
        ("late:", "late: needs a duration, e.g. late:>10m."),
        ("owner:", "owner: needs a name, or a part of one"),
        ('owner:""', "owner: needs a name, or a part of one"),
        ("-group:=", "group: needs a name"),
        ("x Cluster: y", "cluster: needs a name"),
    ],
)
def test_a_key_without_a_value_says_what_it_needs(text: str, hint: str) -> None:
    (problem,) = GroupSearch(text).problems
    assert problem.startswith(hint)


def test_all_of_an_empty_name_finds_who_has_none() -> None:
    assert not GroupSearch('owner:=""').problems
