"""Sentences on pages: times in the zone of the page, ages as times where they were said before."""

import re

import pytest
from markupsafe import Markup
from warren_api.pages.sentences import said, said_then

AT = 1_795_244_400_000  # 2026-11-21 07:00:00 UTC


def text(markup: Markup) -> str:
    return re.sub("<[^>]+>", "", markup)


@pytest.mark.parametrize(
    ("sentence", "now", "then"),
    [
        ("nothing < nothing", "nothing &lt; nothing", "nothing &lt; nothing"),
        (
            "orders/0 may lose unread records at 07:22 UTC (in 22m; limit 1h)",
            "orders/0 may lose unread records at 07:22 UTC (in 22m; limit 1h)",
            "orders/0 may lose unread records at 07:22 UTC (limit 1h)",
        ),
        ("lost at 07:22 UTC (in 22m 3s).", "lost at 07:22 UTC (in 22m 3s).", "lost at 07:22 UTC."),
        (
            "Offset went back 1m 2s ago from 99 on orders/0",
            "Offset went back 1m 2s ago from 99 on orders/0",
            "Offset went back at 06:58 UTC from 99 on orders/0",
        ),
        ("the last <1s ago", "the last &lt;1s ago", "the last at 07:00 UTC"),
        ("went back 3d 2h ago", "went back 3d 2h ago", "went back at 2026-11-18 05:00 UTC"),
        ("No commit for 11s", "No commit for 11s", "No commit for 11s"),
    ],
)
def test_what_is_said_now_and_what_was_said_then(sentence: str, now: str, then: str) -> None:
    assert text(said(sentence, AT)) == now
    assert text(said_then(sentence, AT)) == then


def test_times_are_such_that_the_script_puts_them_into_a_zone() -> None:
    found = said("until 07:22 UTC, or 2026-11-20 23:59 UTC", AT)
    assert re.findall(r'<time class="clock" datetime="([^"]+)"', found) == [
        "2026-11-21T07:22:00Z",
        "2026-11-20T23:59:00Z",
    ]


def test_nothing_in_a_sentence_acts_on_the_page() -> None:
    assert "<b>" not in said("<b>07:22 UTC</b>\n", AT)
    assert text(said("a 99:99 UTC b", AT)) == "a 99:99 UTC b"
