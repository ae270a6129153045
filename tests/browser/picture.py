"""`make picture`: docs/overview.png, the overview of a Warren on the tab it opens with."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from support.browser import FLAGS, chromium

PICTURE = Path(__file__).parents[2] / "docs/overview.png"
WIDTH = 1280

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
    page = browser.new_page(viewport={"width": WIDTH, "height": 900})
    page.goto(sys.argv[1])
    page.locator(".groups tbody details").nth(1).evaluate("(row) => { row.open = true; }")
    end = page.locator(".table").evaluate("(table) => table.getBoundingClientRect().bottom")
    page.screenshot(path=PICTURE, clip={"x": 0, "y": 0, "width": WIDTH, "height": end + 16})
    browser.close()
