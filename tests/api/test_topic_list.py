"""The list of topics: searched, sorted, page by page."""

import pytest
from api.read_pages import NONE, cells, page, text
from api.served_api import Api, paced, topic
from warren_api.model.cluster import FeedState
from warren_api.pages.lists import TOPICS_SHOWN


@pytest.fixture
def api(api: Api) -> Api:
    """orders is read by two groups, eu's payments by one, quiet by none."""
    api.put("billing", topics={"orders": topic({"lag": 70}, {"lag": 5})})
    api.put("mailer", topics={"orders": topic({"lag": 7}, {})})
    api.put("books", cluster="eu", topics={"payments": topic({"lag": 900})})
    api.measure("billing", paced(5.0, 4.0), paced(1.0, 1.0))
    api.list_topics({"orders": [100, 100], "quiet": [0], "quieter": [0, 0, 0]})
    return api


def names(api: Api, query: str = "") -> list[str]:
    return [text(a) for a in page(api, f"/topics{query}").select("tbody th a")]


@pytest.mark.parametrize("path", ["/topics", "/fragments/topics"])
def test_topics_by_name_with_what_to_know_of_each(api: Api, path: str) -> None:
    rows = page(api, path).select("tbody tr")
    assert [cells(row)["Topic"] for row in rows] == [
        *["orders demo", "payments eu", "quiet demo", "quieter demo"]
    ]
    assert cells(rows[0]) == {
        "Topic": "orders demo",
        "Groups": "2",
        "Partitions": "2",
        "Produced": "6.0/s",
        "Consumed": "5.0/s",
        "Largest lag": "75",
    }
    assert cells(rows[2])["Largest lag"] == NONE
    assert str(rows[0].a["href"]) == "/topics/demo/orders"  # type: ignore[index]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?q=QUIET", ["quiet", "quieter"]),
        ("?q=quiet+-quieter", ["quiet"]),
        ("?q=eu/pay", ["payments"]),
        ("?q=cluster%3A%22eu%22", ["payments"]),
        ("?q=group:mail", ["orders"]),
        ("?q=is:unread", ["quiet", "quieter"]),
        ("?q=is:red", []),
        ("?sort=lag", ["payments", "orders", "quiet", "quieter"]),
        ("?sort=lag&order=asc", ["orders", "payments", "quiet", "quieter"]),
        ("?sort=produced", ["orders", "payments", "quiet", "quieter"]),
        ("?sort=partitions", ["quieter", "orders", "payments", "quiet"]),
        ("?sort=groups", ["orders", "payments", "quiet", "quieter"]),
        ("?order=desc", ["quieter", "quiet", "payments", "orders"]),
    ],
)
def test_what_is_asked_for(api: Api, query: str, expected: list[str]) -> None:
    assert names(api, query) == expected


def test_page_by_page(api: Api) -> None:
    api.list_topics({f"t-{n:03}": [0] for n in range(TOPICS_SHOWN)}, 1 << 41)
    soup = page(api, "/topics?sort=lag")
    assert len(soup.select("tbody tr")) == TOPICS_SHOWN
    (after,) = soup.select(".pages a[rel=next]")
    assert after["href"] == "/topics?sort=lag&page=2"
    assert text(soup.select(".pages span")[0]) == "1 to 50 of 52"
    assert len(names(api, "?sort=lag&page=2")) == 2
    assert len(names(api, "?page=9")) == 2
    head = page(api, "/topics?q=t&sort=lag").select("th[aria-sort] a")[0]
    assert head["href"] == "/topics?q=t&sort=lag&order=asc"


def test_none_yet() -> None:
    api = Api()
    assert "No topic has been seen yet" in text(page(api, "/topics"))
    api.feed = FeedState(ready=False, problem=None)
    assert "Reading" in text(page(api, "/topics", 503))
    api.put("billing")
    assert names(api) == ["orders"], "what is known already is shown"
