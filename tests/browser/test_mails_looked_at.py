"""Mails in Chromium as a telephone shows them: narrow, in the light and in the dark."""

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.test_pages_looked_at import PICTURES, Scheme
from notifier.builders import bad_partition, event
from notifier.test_email_digest import digest, news, over
from notifier.test_email_message import LINK, html, mail
from playwright.sync_api import Page
from warren.contracts import Cause, Finding

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
COMMAND = 'kafka-console-consumer --bootstrap-server "$BOOTSTRAP" --topic orders --partition 1'
CAUSE = Cause(
    name="stuck_record",
    short="Stuck at one record",
    sentence="orders/1 has stood at offset 1,180 for 6s",
    action=f"look at it: {COMMAND}",
    also=[Finding(name="records_lost", sentence="66 unread records deleted")],
)
BAD = event(
    group="orders-settlement-reconciliation-worker-eu-central-1",
    cause=CAUSE,
    owner="payments",
    runbook="https://runbooks.example.org/" + "late-" * 20,
    late_ms=600_000,
    time_to_loss_ms=5_400_000,
    partitions=[bad_partition(n) for n in range(3)],
)
MAILS: dict[str, Callable[[], EmailMessage]] = {
    "one": lambda: mail(BAD, LINK),
    "over": lambda: mail(event("OK", "ERR"), LINK, kind="resolved"),
    "many": lambda: digest(
        *(news(n, cause=CAUSE, runbook=BAD.data.runbook) for n in range(30)), over(31)
    ),
}


@pytest.mark.parametrize("name", MAILS)
def test_a_mail_is_fit_to_be_read_on_a_telephone(page: Page, tmp_path: Path, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    file = tmp_path / f"{name}.html"
    file.write_text(html(MAILS[name]()), encoding="utf-8")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=PICTURES / f"mail-{name}-{scheme}.png", full_page=name != "many")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        light = page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert light is (scheme == "light")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    buttons = [each.bounding_box() for each in page.locator("a.step").all()]
    assert all(box is not None and box["height"] >= 44 for box in buttons)
    assert page.get_by_text("Acknowledge").count() == {"one": 1, "over": 0, "many": 20}[name]
