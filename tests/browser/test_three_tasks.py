"""What somebody who was woken up does from the overview, and in how many actions."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from api.served_api import NOW, Api, late, served, topic
from playwright.sync_api import Browser, Page, expect
from warren.settings import ClusterSettings, ObjectiveSettings, Settings

pytestmark = pytest.mark.contract

MINUTE = 60_000
CAUSE = {
    "name": "stuck_record",
    "short": "Stuck at one record",
    "sentence": "orders/0 has stood at offset 7 for 20m while commits go on",
    "action": 'look at it: kafka-console-consumer --bootstrap-server "$BOOTSTRAP" --topic orders',
}


def troubled() -> Api:
    """Ten groups that are bad, of two teams; two will lose data, `pay-4` first."""
    clusters = {"demo": ClusterSettings(bootstrap="kafka-1:9092")}
    teams = [
        ObjectiveSettings(name=name, groups=[f"^{name}"], max_freshness=86_400, owner=owner)
        for name, owner in (("pay", "payments"), ("find", "search"))
    ]
    api = Api(settings=Settings(clusters=clusters, objectives=teams))
    for number in range(10):
        name = f"pay-{number}" if number < 6 else f"find-{number}"
        incident = {"id": f"i-{number}", "opened_at": NOW - 1_200_000}
        rows = topic({"status": "STALL", "lag": 7}, {})
        api.put(name, status="ERR", incident=incident, topics={"orders": rows}, cause=CAUSE)
    for name, left in (("pay-1", 30 * MINUTE), ("pay-4", 9 * MINUTE)):
        api.measure(name, late(20 * MINUTE, time_to_loss_ms=left, retention_left=0.1))
    api.put("pay-fine")
    return api


class Actions:
    """Counts what the reader does."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, selector: str, text: str = "") -> None:
        self.count += 1
        self.page.locator(selector).filter(has_text=text).first.click()


@pytest.fixture
def api() -> Api:
    return troubled()


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def reader(request: pytest.FixtureRequest, browser: Browser, api: Api) -> Iterator[Actions]:
    """On the overview, with and without JavaScript."""
    with served(api) as url, a_page(browser, scripts=request.param) as page:
        page.goto(url)
        yield Actions(page)


@contextmanager
def a_page(browser: Browser, *, scripts: bool) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=scripts)
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def names_of(api: Api) -> set[str]:
    in_force = api.model.silences.in_force(NOW)
    return {each.group for each in api.model.groups() if in_force.of("demo", each.group)}


def test_find_what_loses_data_first_and_silence_its_team(reader: Actions, api: Api) -> None:
    reader.click("thead a", "Data loss in")
    expect(reader.page.locator("tbody th").first).to_contain_text("pay-4")
    reader.click("tbody summary")
    reader.click("tbody .button", "Silence all of payments")
    reader.click("button", "Silence 7 groups")
    expect(reader.page.locator(".total", has_text="Handled")).to_contain_text("6")
    api.put("pay-later")
    assert names_of(api) == {"pay-fine", "pay-later", *(f"pay-{n}" for n in range(6))}
    expect(reader.page.locator(".done")).to_contain_text("7 groups silenced until")
    query = urlsplit(reader.page.url).query
    assert query == "q=is%3Aaction&sort=loss", "what was done is not in the address"
    assert reader.count <= 4


def test_acknowledge_ten(reader: Actions, api: Api) -> None:
    reader.click("summary", "All 10 found")
    reader.click("button", "Acknowledge all")
    expect(reader.page.locator(".total", has_text="Handled")).to_contain_text("10")
    assert all(api.model.silences.acknowledgement(f"i-{n}") for n in range(10))
    assert reader.count <= 3


def test_since_when_and_why_a_group_is_late(reader: Actions) -> None:
    row = reader.page.locator("tbody tr", has_text="pay-4")
    expect(row.locator("[data-label=Since]")).to_contain_text("20")
    expect(row).to_contain_text("Stuck at one record")
    reader.click("tbody tr:has-text('pay-4') summary")
    expect(row.get_by_text(CAUSE["sentence"])).to_be_visible()
    command = "kafka-console-consumer --bootstrap-server kafka-1:9092 --topic orders"
    expect(row.get_by_text(command, exact=True)).to_be_visible()
    expect(row.get_by_role("link", name="orders/0")).to_be_visible()
    assert reader.count <= 2


def test_ticks_outlast_a_search_and_a_sort(page: Page, api: Api) -> None:
    with served(api) as url:
        page.goto(url)
        box = page.get_by_label("Tick find-9 on demo")
        box.check()
        bar = page.get_by_role("group", name="Groups that are ticked")
        search = page.get_by_role("searchbox")
        search.fill("pay-4")
        expect(box).to_have_count(0)
        expect(bar).to_contain_text("Ticked: 0, 1 not shown")
        search.fill("")
        expect(box).to_be_checked()
        page.get_by_role("link", name="Lag", exact=True).click()
        expect(page).to_have_url(re.compile("sort=lag"))
        expect(box).to_be_checked()
        page.get_by_role("button", name="Untick all").click()
        expect(box).not_to_be_checked()
        expect(bar).to_be_hidden()


def test_a_click_with_shift_ticks_a_range(page: Page, api: Api) -> None:
    with served(api) as url:
        page.goto(url)
        boxes = page.locator("tbody .tick input")
        boxes.nth(1).click()
        boxes.nth(4).click(modifiers=["Shift"])
        bar = page.get_by_role("group", name="Groups that are ticked")
        expect(bar).to_contain_text("Ticked: 4")
        boxes.nth(1).click(modifiers=["Shift"])
        expect(bar).to_be_hidden()


def test_a_finger_unfolds_a_row(browser: Browser, api: Api) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    with served(api) as url:
        page.goto(url)
        row = page.locator("tbody tr").first
        box = row.bounding_box()
        assert box is not None
        page.touchscreen.tap(box["x"] + box["width"] - 22, box["y"] + box["height"] / 2)
        expect(row.get_by_text(CAUSE["sentence"])).to_be_visible()
        expect(row.get_by_role("button", name="Acknowledge")).to_be_visible()
    context.close()
