"""What becomes of elements that are to be as others are: `morph.js` in Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page
from support.browser import Site

SHOW = """(html) => {
    const root = document.querySelector("main");
    root.innerHTML = html;
    window.before = [...root.querySelectorAll("[title]")].map((one) => [one, one.title]);
}"""
MORPH = """async (html) => {
    const { morph } = await import("/static/morph.js");
    const root = document.querySelector("main");
    const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
    morph(root, content);
    const kept = window.before.filter(([one, title]) => one.isConnected && one.title === title);
    return { html: root.innerHTML, kept: kept.map(([, title]) => title) };
}"""


@pytest.fixture
def blank(site: Site, page: Page) -> Iterator[Page]:
    with site.serving():
        page.goto(f"{site.url}/nothing")
        yield page


def morphed(page: Page, before: str, after: str) -> str:
    """Titles of the elements that are still those of before. All else is as it is to be."""
    page.evaluate(SHOW, before)
    result = page.evaluate(MORPH, after)
    assert result["html"] == after
    return "".join(result["kept"])


def row(name: str, text: str = "") -> str:
    return f'<tr title="{name}"><th><a href="/{name}">{name}</a></th><td>{text}</td></tr>'


def table(*rows: str) -> str:
    return f"<table><tbody>{' '.join(rows)}</tbody></table>"


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("<p title=a>1</p>", '<p title="a" class="x">2 <b>3</b></p>', "a"),
        ("<p title=a id=a>1</p>", '<p title="b" id="b">1</p>', ""),
        ("<i title=a id=a></i><i title=b data-key=b></i>", '<i title="b" data-key="b"></i>', "b"),
        ("<p class=t title=t></p>", '<p class="banner"></p><p class="t" title="t"></p>', "t"),
        ("x<p>1</p>y<div title=t></div>z", 'x<div title="t"></div>y', "t"),
        ("<p class=a title=p>1</p>", '<p class="b" title="p">1</p>', "p"),
        (table(row("a"), row("b")), table(row("b", "9"), row("a", "<!-- c -->")), "ab"),
        (table(row("a"), row("b"), row("c")), table(row("d"), row("c"), row("a")), "ac"),
        ('<svg viewBox="0 0 1 1"></svg>', '<svg viewBox="0 0 2 2"><path d="M0"></path></svg>', ""),
        ("<p title=a>1</p>", "", ""),
        ("", "<p>1</p> 2", ""),
    ],
)
def test_what_stays_is_kept_and_all_is_as_it_is_to_be(
    blank: Page, before: str, after: str, kept: str
) -> None:
    assert morphed(blank, before, after) == kept


def test_where_a_link_leads_is_what_it_is(blank: Page) -> None:
    """Else somebody who has it in focus would follow another one than they have read."""
    assert morphed(blank, '<a href="/a" title="x">a</a>', '<a href="/b" title="x">b</a>') == ""


def test_the_focus_stays_whatever_moves_around_it(blank: Page) -> None:
    blank.evaluate(SHOW, table(row("a"), row("b"), row("c")))
    blank.evaluate(
        """() => {
            window.left = 0;
            const link = document.querySelector("a[href='/b']");
            link.focus();
            link.addEventListener("blur", () => { window.left += 1; });
        }"""
    )
    for rows in ("cba", "xb", "bca", "ab"):
        blank.evaluate(MORPH, table(*map(row, rows)))
        assert blank.evaluate("document.activeElement.textContent") == "b"
    assert blank.evaluate("window.left") == 0, "it never left, so nothing is read out anew"


def test_what_was_unfolded_stays_so(blank: Page) -> None:
    blank.evaluate(SHOW, "<details><summary>more</summary>1</details>")
    blank.locator("summary").click()
    blank.evaluate(MORPH, "<details><summary>more</summary>2</details>")
    assert blank.evaluate("document.querySelector('details').open")
    assert blank.locator("details").inner_text().split() == ["more", "2"]
