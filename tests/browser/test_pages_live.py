"""What a person sees in a browser while groups get worse and better."""

from typing import Any

import pytest
from api.served_api import NOW, topic
from playwright.sync_api import Browser, Page, expect
from support.browser import Site
from warren.contracts import Silence

STOPPED = {"status": "STOP", "lag": 12_345, "committed_at": NOW - 252_000, "log_end": 12_445}
HOUR = 3_600_000
DAY = 24 * HOUR
SAYS = "no commit for 4m 12s, usual pause 5s"


# All that a pointer could press now, to compare with what Tab comes to.
REACHED = """
    window.reached = new Set();
    window.wanted = new Set([...document.querySelectorAll("a, button, input, summary, select")]
      .filter((each) => each.checkVisibility() && each.type !== "hidden"));
"""


def stop(site: Site, group: str, **fields: Any) -> None:
    topics = {"orders": topic({}, STOPPED)}
    site.api.put(group, status="ERR", total_lag=12_345, topics=topics, explanation=SAYS, **fields)


def console_of(page: Page) -> list[str]:
    """Errors that the console shows from now on: refused by the policy, not found, …"""
    shown: list[str] = []
    page.on("console", lambda said: shown.append(said.text) if said.type == "error" else None)
    return shown


@pytest.mark.smoke
def test_a_group_that_stops_is_seen_without_a_reload(site: Site, page: Page) -> None:
    site.api.put("billing")
    site.api.put("fine")
    errors = console_of(page)
    with site.serving():
        page.goto(f"{site.url}/?q=is:any")
        expect(page).to_have_title("0 ERR, 0 WARN · Warren")
        expect(page.locator("tbody tr")).to_have_count(2)
        page.evaluate("window.notReloaded = true")
        stop(site, "billing")
        worst = page.locator("tbody tr").first
        expect(worst).to_contain_text("billing")
        expect(worst).to_contain_text(SAYS)
        expect(worst.locator("[data-label=Lag]")).to_have_text("12,345")
        expect(page).to_have_title("1 ERR, 0 WARN · Warren")
        expect(page.get_by_role("status")).to_have_text(
            "1 group with errors, 0 with warnings, 1 OK"
        )
        assert page.evaluate("window.notReloaded")
    assert errors == []


def test_keys_alone_reach_all_that_can_be_pressed(site: Site, page: Page) -> None:
    stop(site, "billing", incident={"id": "5b6a", "opened_at": NOW - 252_000})
    with site.serving():
        page.goto(site.url)
        page.locator("tbody summary").focus()
        page.keyboard.press("Space")
        for menu in page.locator(".menus summary").all():
            menu.focus()
            page.keyboard.press("Enter")
        page.evaluate(REACHED)
        page.keyboard.press("Control+Home")
        page.evaluate("document.activeElement.blur()")
        for _ in range(200):
            page.keyboard.press("Tab")
            page.evaluate("window.reached.add(document.activeElement)")
        missing = page.evaluate(
            "[...window.wanted].filter((e) => !reached.has(e)).map((e) => e.outerHTML)"
        )
    assert missing == []


def test_a_cell_leads_to_its_row_also_to_a_folded_one(site: Site, page: Page) -> None:
    site.api.put("billing", topics={"orders": topic({}, STOPPED)})
    with site.serving():
        page.goto(f"{site.url}/groups/demo/billing")
        row = page.locator("[id=partition-orders-0]")
        expect(row).to_be_hidden()
        page.get_by_title("orders/0: OK, lag 0").click()
        expect(row).to_be_visible()
        expect(row).to_be_in_viewport()


def test_the_list_is_walked_on_after_its_rows_have_changed_places(site: Site, page: Page) -> None:
    for name in ("archive", "billing", "mailer"):
        site.api.put(name)
    site.api.change("archive", "OK", NOW - 60_000, previous="ERR")  # "Latest" leads there too
    with site.serving():
        page.goto(f"{site.url}/?q=is:any")
        row = page.locator("tbody th")
        expect(page.locator(".newest a")).to_have_text("archive")
        page.keyboard.press("j")
        stop(site, "mailer")
        expect(row).to_have_text(["mailer demo", "archive demo", "billing demo"])
        for key, name in (("j", "billing"), ("k", "archive"), ("k", "mailer")):
            page.keyboard.press(key)
            expect(row.get_by_role("link", name=name)).to_be_focused()
        stop(site, "archive")
        site.api.put("mailer")
        expect(row).to_have_text(["archive demo", "billing demo", "mailer demo"])
        page.keyboard.press("k")
        expect(row.get_by_role("link", name="billing")).to_be_focused()
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(row.get_by_role("link", name="archive")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("archive")


def test_times_are_the_readers(site: Site, browser: Browser) -> None:
    """Of another day, as their calendar has it, with the day; in UTC where the pointer rests."""
    stop(site, "billing", incident={"id": "5b6a", "opened_at": NOW - 252_000})
    stop(site, "mailer", incident={"id": "7c8d", "opened_at": NOW - 2 * DAY})
    year = {"begins_at": NOW, "ends_at": NOW + 60 * DAY, "created_at": NOW}
    silence = Silence(id="s-1", cluster="", group="mailer", by="ada", why="moving", **year)
    site.api.model.silences.apply(b"s-1", silence.to_bytes())
    context = browser.new_context(timezone_id="Asia/Kolkata", locale="en-GB")
    page = context.new_page()
    page.clock.set_fixed_time(NOW / 1000)
    opened, clock = page.locator(".started time.clock"), page.locator("time.clock")
    with site.serving():
        page.goto(f"{site.url}/groups/demo/billing")
        expect(opened).to_have_text("12:25")
        expect(opened).to_have_attribute("title", "2026-11-21T06:55:48Z")
        page.goto(f"{site.url}/groups/demo/mailer")
        expect(opened).to_have_text("19 Nov, 12:30")
        expect(page.locator(".why time.clock")).to_have_text("20 Jan 2027, 12:30")
        page.goto(f"{site.url}/silences/s-1")
        expect(clock).to_have_text(["21 Nov, 12:30", "20 Jan 2027, 12:30"])
        expect(clock.last).to_have_attribute("title", "2027-01-20T07:00:00Z")
        page.goto(f"{site.url}/incidents/7c8d")
        expect(page.locator(".facts time.clock").first).to_have_text("19 Nov, 12:30")
        site.api.put("mailer")  # a refresh puts no time back into UTC
        page.goto(f"{site.url}/?q=is:any")
        expect(page.locator("tbody time.clock")).to_have_text(["12:25"])
        stop(site, "archive", incident={"id": "9e0f", "opened_at": NOW - 30 * HOUR})
        expect(page.locator("tbody time.clock")).to_have_text(["20 Nov, 06:30", "12:25"])
    context.close()


def test_a_page_whose_api_is_gone_says_so(site: Site, page: Page) -> None:
    site.api.put("billing")
    lost = page.get_by_role("alert")
    with site.serving():
        page.goto(f"{site.url}/?q=is:any")
        expect(lost).to_be_hidden()
    expect(lost).to_contain_text("Warren does not answer")
    expect(page.locator("tbody tr")).to_have_count(1)
    stop(site, "billing")
    with site.serving():
        expect(lost).to_be_hidden()
        expect(page.locator("tbody tr").first).to_contain_text("ERR")
