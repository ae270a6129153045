"""Every page in Chromium as people see it: wide, on a phone, in the dark.

Pictures are left in `.warren/screenshots/`; axe-core finds nothing, nothing is cut off.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pytest
from api.served_api import served
from axe_playwright_python.sync_playwright import Axe
from browser.scenes import everything, long_names, starting, thousand, wide
from playwright.sync_api import Page

PICTURES = Path(__file__).parents[2] / ".warren" / "screenshots"
Scheme = Literal["light", "dark"]
Look = tuple[str, int, int, Scheme]
LOOKS: tuple[Look, ...] = (
    ("wide", 1440, 900, "light"),
    ("phone", 390, 844, "light"),
    ("dark", 1440, 900, "dark"),
)
SCENES = {"": everything, "starting": starting, "thousand": thousand, "wide": wide}
PAGES = {
    "overview": "/",
    "overview-by-owner": "/?q=is:any&by=owner",
    "overview-not-understood": "/?q=late:soon",
    "group-stop": "/groups/demo/stopped",
    "group-not-judged": "/groups/demo/thumbnails",
    "group-not-there": "/groups/demo/nobody",
    "group-30-days": "/groups/demo/stopped?span=30d",
    "silence": "/groups/demo/stopped/silence",
    "topic": "/topics/demo/orders",
    "topics": "/topics",
    "cluster": "/clusters/demo",
    "incidents": "/incidents",
    "incident": "/incidents/incident-stopped",
    "not-found": "/nothing",
    "reference": "/docs",
    "clusters": "/clusters",
    "fleet": "/fleet",
    "statuses": "/statuses",
    "silence-new": "/silences/new?owner=payments",
    "silences": "/silences",
    "notifications": "/notifications",
    "starting": "/",
    "thousand": "/",
    "wide": "/groups/demo/wide",
}


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, str]]:
    """Addresses by scene."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(served(fill())) for name, fill in SCENES.items()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_fit_to_be_seen(page: Page, sites: dict[str, str], name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.goto(sites.get(name.partition("-")[0], sites[""]) + PAGES[name])
    for look, width, height, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=PICTURES / f"{name}-{look}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, look
        found = Axe().run(page)
        assert found.violations_count == 0, f"{look}: {found.generate_report()}"


LONG = "n" * 200
LISTS = (
    *("/", "/?q=is:any&by=owner", "/topics", "/incidents", "/clusters", "/silences"),
    *("/fleet", "/statuses", "/silences/new?group=n"),
)
LONG_PATHS = [
    *(f"/groups/demo/{LONG}{rest}" for rest in ("", "/silence", "?span=30d")),
    *(f"/{kind}/demo/{LONG[1:]}" for kind in ("groups", "topics")),  # nearly what there is
    *(f"/{kind}/{LONG}/{LONG}" for kind in ("groups", "topics")),
    *(
        f"/{kind}/{LONG}"
        for kind in ("clusters", "incidents", "silences", "nothing", "topics/demo")
    ),
    *(f"/?q={key}{LONG}" for key in ("", "status:", "keys:", "late:", "owner:")),
    *(f"/{kind}?q={LONG}" for kind in ("topics", "incidents")),
    *(f"/{kind}?cluster={LONG}&group={LONG}" for kind in ("incidents", "notifications")),
    f"/groups/demo/stopped?span={LONG}",
]


@pytest.mark.parametrize("is_there", [False, True], ids=["unknown", "known"])
def test_long_names_wrap_on_a_phone(page: Page, is_there: bool) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    with served(long_names(LONG) if is_there else everything()) as site:
        wide = {}
        for path in (*LISTS, *LONG_PATHS):
            page.goto(site + path)
            wide[path] = page.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in wide.items() if width > 390} == {}


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[1]], ids=["wide", "phone"])
def test_what_unfolds_is_fit_to_be_seen(page: Page, sites: dict[str, str], look: Look) -> None:
    name, width, height, _ = look
    page.goto(sites[""])
    page.set_viewport_size({"width": width, "height": height})
    page.locator("tbody .tick input").first.check()  # a menu may cover it
    page.evaluate("document.querySelectorAll('tbody details, .menus details')[1].open = true")
    page.evaluate("document.querySelectorAll('tbody details')[1].open = true")
    page.screenshot(path=PICTURES / f"overview-unfolded-{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_on_a_phone_a_row_is_two_lines_whatever_was_said_of_the_group(
    page: Page, sites: dict[str, str]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(sites[""] + "/?q=is:any")
    page.evaluate(
        """() => document.querySelectorAll('td[data-label="Trouble"]').forEach((cell) => {
          for (const words of ["silenced", "acknowledged"])
            cell.insertAdjacentHTML("beforeend", `<a class="said" href="#">${words}</a>`);
        })"""
    )
    rows = page.evaluate(
        """() => [...document.querySelectorAll("tbody tr")].map((row) => {
          const box = (what) => row.querySelector(what)?.getBoundingClientRect();
          const [whole, name, reason, said] =
            [row.getBoundingClientRect(), box("th"), box("summary"), box(".said")];
          const apart = (reason?.top ?? said.top) - name.bottom;
          return [whole.height, apart, whole.bottom - said.bottom];
        })"""
    )
    assert len(rows) > 5
    assert all(height < 70 and apart > -4 and inside >= 0 for height, apart, inside in rows), rows
