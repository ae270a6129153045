"""How much of the list of groups is seen without scrolling, and that a row unfolds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from api.served_api import NOW, Api, served, topic
from browser.scenes import put_cluster
from playwright.sync_api import Page, expect

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
# Of the middle of the first row, 22 px above and below: what a thumb of 44 px touches.
TOUCHED = """
    (() => {
      const box = document.querySelector(".groups tbody tr").getBoundingClientRect();
      const middle = (box.top + box.bottom) / 2;
      return [-22, 0, 22].map((away) => {
        const touched = document.elementFromPoint(box.left + box.width / 2, middle + away);
        return touched.closest("a")?.textContent ?? touched.nodeName;
      });
    })()
"""


def troubled() -> Api:
    """3,000 groups, 60 of them bad, on 20 clusters, one of which is unreachable."""
    clusters = tuple(f"prod-{number}" for number in range(20))
    api = Api(clusters=clusters)
    for name in clusters[:-1]:
        put_cluster(api, name, "ok", NOW - 9_000_000)
    put_cluster(api, clusters[-1], "unreachable", NOW - 60_000)
    cause = {"name": "stuck_record", "short": "Stuck at one record", "sentence": SENTENCE}
    for number in range(3_000):
        name, cluster = f"payments-enrichment-{number:04}", clusters[number % 20]
        if number % 50:
            api.put(name, cluster)
            continue
        incident = {"id": f"i{number}", "opened_at": NOW - 1_200_000}
        rows = topic({"status": "STALL", "lag": 7}, {})
        api.put(
            name, cluster, status="ERR", incident=incident, topics={"orders": rows}, cause=cause
        )
    return api


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(troubled()) as url:
        yield url


@pytest.mark.parametrize(
    ("width", "height", "least", "tallest"),
    [(1440, 900, 18, 37), (1280, 720, 12, 37), (390, 844, 8, 57)],
)
def test_rows_above_the_fold(
    page: Page, address: str, width: int, height: int, least: int, tallest: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(address)
    assert page.evaluate(WHOLE_ROWS) >= least
    assert max(page.evaluate(HEIGHTS)) <= tallest


def test_a_thumb_opens_the_group(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    first = page.locator(".groups tbody th a").first.inner_text()
    assert page.evaluate(TOUCHED) == [first] * 3


def test_a_row_unfolds_by_the_keyboard(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    row = page.locator(".groups tbody tr").first
    said = row.get_by_text(SENTENCE)
    expect(said).to_be_hidden()
    row.locator("summary").focus()
    page.keyboard.press("Space")
    expect(said).to_be_visible()
    expect(row.get_by_text("1 of 2 partitions: 1 STALL")).to_be_visible()
