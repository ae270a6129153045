"""How late groups are and what they lose, on both pages."""

from typing import get_args

import pytest
from api.read_pages import NONE, cells, fact, fill, page, row_of, text
from api.served_api import CAUGHT_UP, Api, late
from warren.contracts import FreshnessReason
from warren_api.pages.environment import REASONS

HOUR = 3_600_000


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


@pytest.fixture
def measured(filled: Api) -> Api:
    expired = late(HOUR, reason="expired", lost_records=1_204, time_to_loss_ms=60_000)
    filled.measure("billing", late(42_000, time_to_loss_ms=9 * HOUR), expired, CAUGHT_UP)
    filled.measure("fine", CAUGHT_UP)
    return filled


def test_how_late_and_what_is_lost_is_on_both_pages(measured: Api) -> None:
    row = row_of(measured, "billing")
    assert (cells(row)["Late"], cells(row)["Data loss in"]) == ("1h", "lost 1,204")
    soup = page(measured, "/groups/demo/billing")
    assert text(fact(soup, "Late")) == "Late 1h orders / 1"
    assert text(fact(soup, "Data loss in")) == "Data loss in lost 1,204"
    assert text(fact(soup, "Freshness measured")) == "Freshness measured 3s ago"
    by_partition = {
        cells(row)["Partition"]: (cells(row)["Late"], cells(row)["Data loss in"])
        for row in soup.select(".partitions tbody tr")
    }
    assert by_partition == {
        "orders / 0": ("42s", "8h 59m"),
        "orders / 1": ("1h", "lost 1,204"),
        "orders / 2": ("0s", NONE),
    }


@pytest.mark.parametrize(
    ("partition", "shown", "red"),
    [
        (CAUGHT_UP, NONE, False),
        (late(HOUR, time_to_loss_ms=HOUR), "59m 57s", False),
        (late(9, time_to_loss_ms=HOUR - 1), "59m 56s 07:59 UTC", True),  # it stands still
        (late(HOUR, time_to_loss_ms=HOUR - 1), "59m 56s 07:59 UTC", True),
        (late(9, lost_records=3), "lost 3", True),
    ],
)
def test_what_is_in_danger_is_red_and_nothing_else(
    filled: Api, partition: dict[str, object], shown: str, red: bool
) -> None:
    """It was measured three seconds ago."""
    filled.measure("billing", CAUGHT_UP, CAUGHT_UP, partition)
    (cell,) = row_of(filled, "billing").select('[data-label="Data loss in"]')
    assert (text(cell), "loss" in cell["class"]) == (shown, red)
    soup = page(filled, "/groups/demo/billing")
    assert ("loss" in fact(soup, "Data loss in").get_attribute_list("class")) == red
    detail = [
        row
        for row in soup.select(".partitions tbody tr")
        if cells(row)["Partition"] == "orders / 2"
    ]
    (cell,) = detail[0].select('[data-label="Data loss in"]')
    assert (text(cell), "loss" in cell["class"]) == (shown.removesuffix(" 07:59 UTC"), red)


def test_what_was_consumed_when_it_was_measured_is_not_said_of_now(filled: Api) -> None:
    filled.put("billing", total_lag=80)
    filled.measure("billing", CAUGHT_UP)
    told = text(fact(page(filled, "/groups/demo/billing"), "Late"))
    assert told == "Late 0s nothing was left to consume 3s ago"
    filled.put("billing", total_lag=0)
    told = text(fact(page(filled, "/groups/demo/billing"), "Late"))
    assert told == "Late 0s nothing left to consume"


def test_the_time_until_loss_runs_down(filled: Api) -> None:
    filled.measure("billing", CAUGHT_UP, late(HOUR, time_to_loss_ms=90_000))
    shown = []
    for _ in range(3):
        filled.clock.advance(40)
        fact_, row = page(filled, "/groups/demo/billing"), row_of(filled, "billing")
        shown.append((text(fact(fact_, "Data loss in")), cells(row)["Data loss in"]))
    assert shown == [
        ("Data loss in 47s old 07:01 UTC", "47s old"),
        ("Data loss in 7s old 07:01 UTC", "7s old"),
        ("Data loss in now old 07:01 UTC", "now old"),
    ]


def test_an_unknown_part_is_said_with_the_reason(filled: Api) -> None:
    unreadable = late(None, reason="not_authorised", bound_ms=2 * HOUR)
    filled.measure("billing", late(42_000), unreadable, CAUGHT_UP)
    assert cells(row_of(filled, "billing"))["Late"] == "> 2h not allowed to read the topic"
    soup = page(filled, "/groups/demo/billing")
    assert text(fact(soup, "Late")) == "Late > 2h not allowed to read the topic"
    assert "> 2h not allowed to read the topic" in [
        cells(row)["Late"] for row in soup.select(".partitions tbody tr")
    ]
    filled.measure("billing", late(None, reason="no_commit", bound_ms=None, committed=-1))
    assert cells(row_of(filled, "billing"))["Late"] == f"{NONE} never committed"


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(get_args(FreshnessReason))
