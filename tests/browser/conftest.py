"""A real Chromium before a served application."""

from collections.abc import Iterator

import pytest
from api.served_api import Api
from playwright.sync_api import Browser, Page, expect, sync_playwright
from support.browser import FLAGS, Site, chromium

# A page asks every two seconds; a busy machine takes its time to answer.
expect.set_options(timeout=30_000)


@pytest.fixture
def site() -> Site:
    return Site(Api())


@pytest.fixture(scope="module")  # it has an event loop, without which other tests must be
def browser() -> Iterator[Browser]:
    if (path := chromium()) is None:
        pytest.skip(
            "no Chromium: the pages are not tested in a browser; `make browser` installs it"
        )
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a new profile; the test fails when the page's scripts do."""
    context = browser.new_context()
    page = context.new_page()
    raised: list[str] = []
    page.on("pageerror", lambda error: raised.append(str(error)))
    yield page
    context.close()
    assert raised == []
