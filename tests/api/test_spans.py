"""The past that a page shows: an hour, or as long as is asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from api.test_archived_past import lake
from bs4 import BeautifulSoup
from warren.contracts import MINUTE_MS
from warren.settings import ArchiverSettings
from warren_api.model.archive import BUSY, Archive
from warren_api.pages.span import shown

__all__ = ["lake"]
HOUR, DAY = 60 * MINUTE_MS, 24 * 60 * MINUTE_MS
THIS = NOW - NOW % MINUTE_MS
PATH = "/groups/demo/billing"


@pytest.fixture
def api(lake: Path) -> Iterator[Api]:
    kept = Archive(ArchiverSettings(path=str(lake)))
    api = Api(archive=kept)
    api.put("billing")
    for n in range(1, 12 * 60):
        api.remember("billing", THIS - n * MINUTE_MS, lag=n, lag_max=n)
    yield api
    kept.close()


def titles(soup: BeautifulSoup) -> list[str]:
    return [text(title) for title in soup.select("svg.chart > title")]


@pytest.mark.parametrize(
    ("span", "words", "step"),
    [
        ("1h", "last hour", MINUTE_MS),
        ("6h", "last 6 hours", 5 * MINUTE_MS),
        ("24h", "last 24 hours", 15 * MINUTE_MS),
        ("7d", "last 7 days", HOUR),
        ("30d", "last 30 days", 6 * HOUR),
    ],
)
def test_a_span_in_whole_steps_up_to_now(span: str, words: str, step: int) -> None:
    found = shown(NOW + 1, span)
    assert found.words == words
    assert found.period.step == step
    assert found.period.start % step == found.period.end % step == 0
    assert NOW - step < found.period.end <= NOW + step


def test_a_part_is_widened_to_whole_steps_and_kept_within_bounds() -> None:
    part = shown(NOW, "", THIS - 5 * HOUR + 7, THIS - 4 * HOUR - 7)
    assert part.period == (THIS - 5 * HOUR, THIS - 4 * HOUR, MINUTE_MS)
    assert part.words.endswith("UTC")
    assert shown(NOW, "", 0, NOW).period.end == NOW + -NOW % DAY
    assert shown(NOW, "", 0, NOW).period.start >= NOW - 92 * DAY
    assert shown(NOW, "", NOW, NOW - HOUR) == shown(NOW, "", NOW - HOUR, NOW)
    assert shown(NOW, "", None, NOW + DAY).period.end == THIS


def test_links_lead_to_other_spans(api: Api) -> None:
    soup = page(api, f"{PATH}?span=6h")
    links = soup.select(".spans a")
    assert [(text(a), a["href"]) for a in links[:5]] == [
        ("1h", "?span=1h"),
        ("6h", "?span=6h"),
        ("24h", "?span=24h"),
        ("7d", "?span=7d"),
        ("30d", "?span=30d"),
    ]
    assert [text(a) for a in links if a.has_attr("aria-current")] == ["6h"]
    by_name = {str(a.get("aria-label")): str(a["href"]) for a in links}
    assert "Later" not in by_name
    earlier = page(api, PATH + by_name["Earlier"])
    assert "lag 361 at the end" in titles(earlier)[1]
    assert {"Earlier", "Later", "Closer", "Wider"} <= {
        str(a.get("aria-label")) for a in earlier.select(".spans a")
    }
    wider = page(api, PATH + by_name["Wider"]).select_one(".charts")
    assert wider is not None
    assert int(str(wider["data-end"])) <= NOW, "nothing is known of the future"


def test_charts_are_of_what_was_asked_for(api: Api) -> None:
    assert "Lag, last hour: lag 1 at the end, between 1 and 60" in titles(page(api, PATH))
    (late, lag, moved) = titles(page(api, f"{PATH}?span=6h"))
    assert lag.startswith("Lag, last 6 hours: lag 1 at the end, between 1 and")
    assert late.startswith("Late, last 6 hours")
    part = page(api, f"{PATH}?from={THIS - 3 * HOUR}&to={THIS - 2 * HOUR}")
    assert "lag 121 at the end, between 121 and 180" in titles(part)[1]
    assert page(api, f"/fragments{PATH}?span=6h").select("svg.chart")
    assert api.get(f"{PATH}?span=9h").status_code == 422
    assert moved.startswith("Records a second, last 6 hours: produced 2.0/s")


def test_without_an_archive_it_is_said(tmp_path: Path) -> None:
    api = Api(archive=Archive(ArchiverSettings(path=str(tmp_path / "none"))))
    api.put("billing")
    api.remember("billing", THIS - MINUTE_MS)
    assert not page(api, f"{PATH}?span=24h").select(".problem")
    (said,) = page(api, f"{PATH}?span=30d").select(".problem")
    assert text(said) == "The archive has nothing of what was more than a day ago."


def test_the_archive_is_asked_once_a_minute(lake: Path) -> None:
    asked: list[str] = []

    class Counted(Archive):
        def group(self, *_: object) -> str | None:
            asked.append("group")
            return BUSY

    api = Api(archive=Counted(ArchiverSettings(path=str(lake))))
    api.put("billing")
    for n in (3, 2, 1):
        api.remember("billing", THIS - n * MINUTE_MS)
        page(api, f"{PATH}?span=7d")
    assert asked == ["group"]
    api.clock.advance(60)
    page(api, f"{PATH}?span=7d")
    assert asked == ["group"] * 2
