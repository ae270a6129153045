"""What refreshes of a page leave alone, and how often it asks."""

import pytest
from api.served_api import NOW, topic
from playwright.sync_api import Page, expect
from support.browser import Site

FRAGMENTS = "**/fragments/**"
ALARM = "Warren does not answer. What you see is old."
# How often anything in an element changes.
COUNT = """(selector) => {
    window.changes = 0;
    const count = (records) => { window.changes += records.length; };
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(count).observe(document.querySelector(selector), all);
}"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def asked_by(page: Page) -> list[str]:
    """Addresses of the fragments that the page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/fragments/" in one.url else None)
    return asked


def pause(page: Page) -> None:
    """Timers of the page that is opened next go only as far as the test lets them."""
    page.clock.install(time=NOW / 1000)
    page.clock.pause_at(NOW / 1000 + 1)


def shown(page: Page) -> None:
    """Waits until the page has shown a fragment that it asks for from now on."""
    for _ in range(2):  # when one is asked for, the one before was shown
        page.wait_for_event("request", lambda one: "/fragments/" in one.url)


def test_nothing_is_touched_where_nothing_is_new(site: Site, page: Page) -> None:
    site.api.put("billing", status="ERR", incident={"id": "5b6a", "opened_at": NOW - 252_000})
    with site.serving():
        page.goto(f"{site.url}/?q=is:any")
        shown(page)
        page.evaluate(COUNT, "#live")
        shown(page)
        assert page.evaluate("window.changes") == 0


def test_what_the_reader_does_outlasts_what_is_new(site: Site, page: Page) -> None:
    site.api.put("billing")
    members = [{"member_id": f"m-{n}", "client_id": "c" * 90, "host": "h" * 90} for n in range(2)]
    site.api.describe("billing", members=members)
    page.set_viewport_size({"width": 800, "height": 600})
    with site.serving():
        page.goto(f"{site.url}/groups/demo/billing")
        page.locator("details.fine summary").click()
        page.locator("details.fine th a").last.focus()
        page.evaluate(
            """() => {
                window.members = document.querySelector(".members").closest(".table");
                members.scrollLeft = 40;
                getSelection().selectAllChildren(document.querySelector(".facts dt"));
                window.link = document.activeElement;
            }"""
        )
        topics = {"orders": topic({"status": "STOP", "lag": 9}, {})}  # a table of its own then
        site.api.put("billing", status="ERR", total_lag=9, topics=topics, explanation="stuck")
        expect(page.locator(".subject")).to_contain_text("ERR")
        expect(page.locator(".partitions tbody tr").first).to_contain_text("STOP")
        assert page.evaluate("[members.isConnected, members.scrollLeft]") == [True, 40]
        assert page.evaluate("document.activeElement === window.link")
        assert page.evaluate("window.link.closest('th').textContent") == "orders/1"
        assert page.evaluate("getSelection().toString()") == "Late"


def test_a_word_is_asked_for_once_it_is_typed(site: Site, page: Page) -> None:
    for name in ("billing", "mailer"):
        site.api.put(name)
    pause(page)
    with site.serving():
        page.goto(site.url)
        asked = asked_by(page)
        page.get_by_role("searchbox").press_sequentially("mailer")
        page.clock.run_for(150)
        expect(page.locator("tbody th")).to_have_text(["mailer demo"])
        assert asked == [f"{site.url}/fragments/groups?q=mailer"]


@pytest.mark.parametrize("status", [200, 503])
def test_a_page_of_somebody_else_is_no_answer(site: Site, page: Page, status: int) -> None:
    """Of a proxy, say."""
    site.api.put("billing")
    page.clock.install()
    page.route(FRAGMENTS, lambda route: route.fulfill(status=status, body="<p>Be back soon</p>"))
    with site.serving():
        page.goto(f"{site.url}/?q=is:any")
        for _ in range(4):
            with page.expect_response(FRAGMENTS):
                page.clock.run_for(2_000)
        expect(page.get_by_role("alert")).to_have_text(ALARM)
        expect(page.locator("tbody tr")).to_contain_text("billing")
