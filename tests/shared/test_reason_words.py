"""Reasons have words of their own."""

import pytest
from warren.contracts import REASONS
from warren.reason_words import in_short
from warren.words import deleted, running_out


def test_each_reason_has_few_words_of_its_own() -> None:
    said = [in_short(reason) for reason in REASONS]
    assert len(set(said)) == len(REASONS)
    assert all(len(words.split()) <= 5 for words in said)


def test_a_reason_of_tomorrow_is_said_by_its_name() -> None:
    assert in_short("asks_too_much") == "Asks too much"


# What is said of records that retention deletes, over counts and times.

NOW = 1_795_244_400_000  # 2026-11-21 07:00:00 UTC
MINUTE, HOUR = 60_000, 3_600_000


@pytest.mark.parametrize(
    ("count", "partitions", "said"),
    [
        (1, 1, "1 unread record deleted (orders/0)"),
        (1, 2, "1 unread record deleted (orders/0 and 1 more)"),
        (3_110, 1, "3,110 unread records deleted (orders/0)"),
        (3_110, 1_001, "3,110 unread records deleted (orders/0 and 1,000 more)"),
    ],
)
def test_records_that_are_gone(count: int, partitions: int, said: str) -> None:
    assert deleted(count, "orders/0", partitions) == said
    assert deleted(count, "") == said.partition(" (")[0], "nobody knows where"


@pytest.mark.parametrize(
    ("left_ms", "said"),
    [
        (0, "orders/0 may lose unread records now (limit 1h)"),
        (999, "orders/0 may lose unread records now (limit 1h)"),
        (1_000, "orders/0 may lose unread records at 07:00 UTC (in 1s; limit 1h)"),
        (30 * MINUTE, "orders/0 may lose unread records at 07:30 UTC (in 30m; limit 1h)"),
        (
            17 * HOUR,
            "orders/0 may lose unread records at 2026-11-22 00:00 UTC (in 17h; limit 1h)",
        ),
    ],
)
def test_records_that_will_be(left_ms: int, said: str) -> None:
    assert running_out("orders/0", left_ms, HOUR, NOW) == said
