"""Keys do what buttons do on each page; Escape closes what is open; narrow phones show all."""

from api.served_api import NOW
from playwright.sync_api import Page, expect
from support.browser import Site


def stop(site: Site, group: str) -> None:
    site.api.put(group, status="ERR", incident={"id": f"i-{group}", "opened_at": NOW})


def test_a_group_is_acknowledged_and_silenced_by_keys_on_its_page(site: Site, page: Page) -> None:
    stop(site, "billing")
    with site.serving():
        page.goto(f"{site.url}/groups/demo/billing")
        page.keyboard.press("?")
        shown = page.locator("#keys div:visible dt")
        expect(shown).to_have_text(["j k", "→ ←", "Enter", "a", "s", "Esc", "?"])
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        menu = page.locator('.subject .menu[data-key="silence"]')
        expect(menu.locator("button").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(menu).not_to_have_attribute("open", "")
        expect(menu.locator("summary")).to_be_focused()
        page.keyboard.press("a")
        expect(page.locator(".subject .said")).to_have_text("acknowledged")
        expect(page.locator("html.keyed")).to_be_attached()  # the page is another one
        page.keyboard.press("s")
        expect(menu.locator("button").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".subject .said")).to_have_text(["silenced", "acknowledged"])


def test_a_phone_of_320_has_all_places_and_nothing_beside_the_screen(
    site: Site, page: Page
) -> None:
    stop(site, "billing")
    page.set_viewport_size({"width": 320, "height": 640})
    with site.serving():
        for path in ("/", "/groups/demo/billing", "/topics", "/silences"):
            page.goto(f"{site.url}{path}")
            for link in page.locator(".places a").all():
                box = link.bounding_box()
                assert box is not None
                assert 44 <= box["height"] < 60, "on one line, for a finger"
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= 320
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 320, path
