"""A report in Chromium as people see it: wide, on a phone, in the dark, and on paper."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.test_pages_looked_at import PICTURES, Scheme
from playwright.sync_api import Browser, Page
from support.reports import crowded, made, troubled
from warren_archiver.report.page import render

SCENES = {"last-hour": troubled, "last-day": crowded, "last-week": made}
LOOKS: tuple[tuple[str, int, Scheme], ...] = (
    ("wide", 1280, "light"),
    ("phone", 390, "light"),
    ("dark", 1280, "dark"),
)
PAPER = {"width": 688, "height": 1017}
"""A4 without 14 mm at each side, in CSS pixels."""
SCROLLED = """
    [...document.querySelectorAll("*")].filter((each) => {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
      return (scrolls || each === document.documentElement) && each.scrollWidth > each.clientWidth;
    }).map((each) => each.outerHTML.slice(0, 99))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """As files: what the API serves may run no script, and axe is one."""
    folder = tmp_path_factory.mktemp("reports")
    for name, make in SCENES.items():
        (folder / f"{name}.html").write_text(render(make()), encoding="utf-8")
    return folder.as_uri()


@pytest.mark.parametrize("name", SCENES)
def test_a_report_is_fit_to_be_seen(page: Page, site: str, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.goto(f"{site}/{name}.html")
    for look, width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=PICTURES / f"report-{name}-{look}.png", full_page=name == "last-hour")
        assert page.evaluate(SCROLLED) == [], look
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 26)"
        assert dark is (scheme == "dark")
        found = Axe().run(page)
        assert found.violations_count == 0, f"{look}: {found.generate_report()}"
    for width in (500, 800, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SCROLLED) == [], width


@pytest.mark.parametrize("name", SCENES)
def test_the_summary_is_one_sheet_of_paper(browser: Browser, site: str, name: str) -> None:
    """In black on white, also for who reads in the dark; details begin on the next sheet."""
    with browser.new_page(viewport=PAPER, color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.goto(f"{site}/{name}.html")
        assert page.evaluate(SCROLLED) == []
        last = ".timeline" if name == "last-hour" else ".figures"
        bottom = f"document.querySelector('{last}').getBoundingClientRect().bottom"
        assert page.evaluate(bottom) <= PAPER["height"]
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 29, 35)"
        sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
        assert sheets >= 2
        page.add_style_tag(content=".details, footer { display: none }")
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 1 + (
            name == "last-day"  # the timeline has no room beside so many words
        )
