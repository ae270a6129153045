"""Groups that have the same owner, cluster, cause or topic stand together."""

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api, topic
from warren.settings import ClusterSettings, ObjectiveSettings, Settings

STUCK = {"name": "stuck_record", "short": "Stuck at one record", "sentence": "s"}


@pytest.fixture
def api() -> Api:
    clusters = {name: ClusterSettings(bootstrap=f"{name}:9092") for name in ("demo", "eu")}
    objective = ObjectiveSettings(name="all", groups=["^pay"], max_freshness=60, owner="payments")
    api = Api(settings=Settings(clusters=clusters, objectives=[objective]))
    bad = topic({"status": "STALL", "lag": 7})
    for n, (name, cluster) in enumerate((("find", "eu"), ("pay-1", "demo"), ("pay-2", "eu"))):
        incident = {"id": f"i-{n}", "opened_at": NOW - 60_000 + n}
        cause = STUCK if name != "pay-2" else None
        api.put(name, cluster, status="ERR", incident=incident, topics={f"t-{n}": bad}, cause=cause)
    return api


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("owner", {"no owner 1 group": ["find"], "payments 2 groups": ["pay-1", "pay-2"]}),
        ("cluster", {"eu 2 groups": ["find", "pay-2"], "demo 1 group": ["pay-1"]}),
        (
            "cause",
            {
                "Stuck at one record 2 groups": ["find", "pay-1"],
                "no clear cause 1 group": ["pay-2"],
            },
        ),
        ("topic", {"t-0 1 group": ["find"], "t-1 1 group": ["pay-1"], "t-2 1 group": ["pay-2"]}),
    ],
)
def test_worst_first_each_with_its_groups(
    api: Api, by: str, expected: dict[str, list[str]]
) -> None:
    soup = page(api, f"/?by={by}")
    found = {}
    for body in soup.select(".groups tbody"):
        head, *rows = body.select("tr")
        names = [a.get_text() for row in rows for a in row.select("th a")]
        found[text(head)] = names
        for link in head.select("a"):
            under = page(api, str(link["href"])).select(".groups tbody tr:not(.section) th a")
            assert [a.get_text() for a in under] == names
    assert list(found.items()) == list(expected.items())


def test_a_section_goes_on_on_the_next_page(api: Api) -> None:
    for n in range(70):
        api.put(f"pay-ok-{n:02}", "eu")
    first, second = (page(api, f"/?q=is:any&by=cluster&page={n}") for n in (1, 2))
    assert [text(each) for each in first.select(".section")] == ["eu 72 groups"]
    assert [text(each) for each in second.select(".section")] == ["eu 72 groups", "demo 1 group"]
    assert len(second.select("tbody tr:not(.section)")) == 23
