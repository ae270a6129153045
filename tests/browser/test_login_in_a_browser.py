"""People log in in a browser: at a provider of our own, and at one of somebody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api.login_lab import SECRET, Lab
from api.served_api import Api, served
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from support.manual_clock import ManualClock
from support.mock_provider import mock_provider
from warren.clock import SystemClock
from warren.settings import ApiSettings
from warren_local.server import free_port

pytestmark = pytest.mark.contract

PICTURES = Path(__file__).parents[2] / ".warren" / "screenshots"


@pytest.fixture
def lab() -> Iterator[Lab]:
    lab = Lab()
    with lab.serving():
        yield lab


def looked_at(page: Page, name: str) -> None:
    """Wide and on a phone."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for look, width in (("phone", 390), ("wide", 1400)):
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=PICTURES / f"{name}-{look}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, look
        found = Axe().run(page)
        assert found.violations_count == 0, f"{look}: {found.generate_report()}"


def test_log_in_look_after_an_incident_and_log_out(lab: Lab, page: Page) -> None:
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(f"{lab.url}/incidents/i-1")
    expect(page).to_have_url(f"{lab.url}/incidents/i-1")
    expect(page.locator("form.account")).to_contain_text("ada")
    page.get_by_text("With a note").click()
    page.get_by_label("Note (optional)").fill("on it")
    looked_at(page, "logged-in")
    page.locator(".menu form button").first.click()
    expect(page.locator("dl.facts")).to_contain_text("ada")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Gone")).to_be_visible()
    page.get_by_role("link", name="back").click()
    expect(page.get_by_role("heading", name="You are logged out")).to_be_visible()
    looked_at(page, "logged-out")
    page.goto(f"{lab.url}/logged-out")
    page.get_by_role("link", name="Log in").click()
    expect(page).to_have_url(f"{lab.url}/")
    assert errors == [], "nothing that the policy of the pages refuses"


def test_a_page_whose_session_is_over_says_so_and_goes_on_after_a_login(
    lab: Lab, page: Page
) -> None:
    page.goto(lab.url)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.evaluate("window.notReloaded = true")
    lab.api.clock.advance(28_800)
    told = page.get_by_role("alert")
    expect(told).to_contain_text("You are no longer logged in")
    expect(page.locator("tbody tr")).to_have_count(1)
    with page.context.expect_page() as opened:
        told.get_by_role("link", name="Log in again").click(modifiers=["ControlOrMeta"])
    another = opened.value
    another.goto(f"{lab.url}/login")
    expect(another.locator("form.account")).to_contain_text("ada")
    lab.api.put("another", status="ERR")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(told).to_be_hidden()
    assert page.evaluate("window.notReloaded")


def test_at_somebody_elses_provider(page: Page, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    people = [
        {"sub": "u-1", "preferred_username": "grace", "groups": ["oncall"]},
        {"sub": "u-2", "preferred_username": "linus", "groups": ["others"]},
    ]
    with mock_provider(tmp_path / "provider.log", url, *people) as provider:
        oidc = {**provider._asdict(), "public_url": url, "admins": ["oncall"]}
        settings = ApiSettings.model_validate({"oidc": {**oidc, "session_secret": SECRET}})
        api = Api(api=settings, clock=ManualClock(SystemClock().now_ms()))
        with served(api, port):
            page.goto(f"{url}/incidents")
            expect(page.get_by_role("heading", name="Authorize Client")).to_be_visible()
            page.get_by_role("button", name="u-1", exact=True).click()
            expect(page).to_have_url(f"{url}/incidents")
            expect(page.locator("form.account")).to_contain_text("grace")
            page.get_by_role("button", name="Log out").click()
            page.get_by_role("button").first.click()  # it asks whether to
            expect(page.get_by_role("heading", name="You are logged out")).to_be_visible()
            page.get_by_role("link", name="Log in").click()
            page.get_by_role("button", name="u-2", exact=True).first.click()
            expect(page.get_by_role("heading", level=1)).to_have_text("linus may not see this")
            page.get_by_role("link", name="Log in as somebody else").click()
            page.get_by_role("button", name="Deny").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("You are not logged in")
