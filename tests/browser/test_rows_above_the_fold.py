"""How much of the list of groups is seen without scrolling, and that a row unfolds."""

from collections.abc import Iterator

import pytest
from api.served_api import NOW, Api, late, served, topic
from browser.scenes import put_cluster
from playwright.sync_api import Page
from warren.settings import (
    ApiSettings,
    ClusterSettings,
    ObjectiveSettings,
    SavedFilter,
    Settings,
)

SENTENCE = "orders/0 has stood at offset 7 for 20m while commits go on"
WHOLE_ROWS = """
    [...document.querySelectorAll(".groups tbody tr")].filter((row) => {
      const box = row.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight;
    }).length
"""
HEIGHTS = """
    [...document.querySelectorAll(".groups tbody tr")].map((row) => row.offsetHeight)
"""


def troubled() -> Api:
    """3,000 groups with names as companies have, 60 of them bad, on 20 clusters, one of which is
    unreachable. Some lose data, more will: the headline says all that it can say. Two searches are
    kept.
    """
    places = ("prod-eu-core", "prod-eu-events", "prod-us-core", "stage-us-events")
    clusters = tuple(f"{place}-{number}" for number in range(5) for place in places)
    saved = [SavedFilter(name=f"{name} now", q=f"owner:{name}") for name in ("payments", "search")]
    settings = Settings(
        api=ApiSettings(filters=saved),
        clusters={name: ClusterSettings(bootstrap=f"{name}:9092") for name in clusters},
        objectives=[
            ObjectiveSettings(name="all", groups=["."], max_freshness=86_400, owner="payments")
        ],
    )
    api = Api(settings=settings)
    for name in clusters[:-1]:
        put_cluster(api, name, "ok", NOW - 9_000_000)
    put_cluster(api, clusters[-1], "unreachable", NOW - 4_800_000)
    cause = {"name": "stuck_record", "short": "Stuck at one record", "sentence": SENTENCE}
    for number in range(3_000):
        name, cluster = f"payments-enrichment-service-prod-{number:04}", clusters[number % 20]
        if cluster == clusters[-1]:
            api.put(name, cluster, evaluated_at=NOW - 4_800_000)
            continue
        if number % 50:
            api.put(name, cluster)
            continue
        incident = {"id": f"i{number}", "opened_at": NOW - 1_200_000}
        rows = topic({"status": "STALL", "lag": 7}, {})
        status = "WARN" if number % 150 == 100 else "ERR"
        api.put(
            name, cluster, status=status, incident=incident, topics={"orders": rows}, cause=cause
        )
        if number in _LOSES:
            api.measure(name, late(1_200_000, **_LOSES[number]), cluster=cluster)
    for number in range(3):
        name, incident = f"{LONG}{number:03}", {"id": f"long{number}", "opened_at": NOW - 1_200_000}
        api.put(name, clusters[0], status="ERR", incident=incident, cause=cause)
        two_days = late(252_000, time_to_loss_ms=47 * 3_600_000)
        api.measure(name, two_days, cluster=clusters[0])
    return api


LONG = "payments-enrichment-service-for-the-european-market-and-all-its-subsidiaries-production-v2-"


_LOSES: dict[int, dict[str, int]] = {
    0: {"lost_records": 3_110},
    50: {"lost_records": 62},
    200: {"time_to_loss_ms": 1_740_000},
    300: {"time_to_loss_ms": 1_900_000},
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(troubled()) as url:
        yield url


@pytest.fixture(scope="module")
def outage() -> Iterator[str]:
    """Nothing has been heard of any cluster for a quarter of an hour."""
    api = troubled()
    api.clock.advance(900)
    with served(api) as url:
        yield url


@pytest.mark.parametrize("scene", ["address", "outage"])
@pytest.mark.parametrize(
    ("width", "height", "least", "tallest"),
    [(1440, 900, 18, 37), (1280, 720, 12, 37), (390, 844, 8, 57)],
)
def test_rows_above_the_fold(
    request: pytest.FixtureRequest,
    page: Page,
    scene: str,
    width: int,
    height: int,
    least: int,
    tallest: int,
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(request.getfixturevalue(scene))
    assert page.evaluate(WHOLE_ROWS) >= least
    assert max(page.evaluate(HEIGHTS)) <= tallest


# What a finger is to hit, smaller than 44 px, but for links within sentences.
SMALL = """
    [...document.querySelectorAll("a, button, summary, input, select")].filter((each) => {
      const box = each.getBoundingClientRect();
      const isSeen = box.width && each.checkVisibility() && box.right > 1 && !each.closest(".tick");
      const isText = each.closest("p:not(.note), li:not(:has(> :only-child)), small");
      const isWholeRow = each.closest(".groups tbody th, .groups tbody summary");
      const isElsewhere = each.closest("thead, .cells"); // nobody sees it; a table says it, too
      return isSeen && !isText && !isWholeRow && !isElsewhere && box.height < 44;
    }).map((each) => `${each.tagName} ${each.className} ${each.textContent.trim()}`)
"""


@pytest.mark.parametrize(
    "path", ["/", "/incidents", "/topics", "/silences", "/clusters", "/fleet", "/silences/new"]
)
def test_a_finger_hits_what_a_phone_shows(page: Page, address: str, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}{path}")
    assert page.evaluate(SMALL) == []


# Of each name that is cut: whether its begin and its end are seen, and whether the cluster is.
CUT = """
    [...document.querySelectorAll(".named:has(a bdi + bdi)")].map((name) => {
      const box = (each) => each.getBoundingClientRect();
      const [start, end, cluster] = [...name.querySelectorAll("bdi")].map(box);
      const edge = box(name.parentNode).right + 1;
      return [start.width > 60, end.width > 60 && end.right <= edge, cluster.left < edge - 1];
    })
"""


@pytest.mark.parametrize("width", [360, 390])
def test_names_that_differ_at_the_end_and_figures_say_what_they_are(
    page: Page, address: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{address}/?q={LONG}")
    assert page.evaluate(CUT) == [[True, True, False]] * 3
    row = page.locator(".groups tbody tr").first
    assert row.locator("th a").get_attribute("title") == f"{LONG}000"
    shown = row.evaluate(
        """(row) => [...row.querySelectorAll("td[data-brief]")].map(
          (cell) => getComputedStyle(cell, "::before").content).join(" ")"""
    )
    assert "4m late" in shown
    assert "loss in 2d" in shown
