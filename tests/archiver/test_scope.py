"""Which times new rows touch, without Spark."""

from datetime import date, timedelta

from warren_archiver.lake.lake import EARLIEST, LATEST
from warren_archiver.refining.models import MODELS, behind
from warren_archiver.refining.times import MOST_RANGES, Times

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000


def test_ranges_that_meet_are_one() -> None:
    times = Times.of([(90, 100), (0, 10), (11, 20), (15, 17)])
    assert times.ranges == ((0, 20), (90, 100))


def test_what_is_far_away_stays_apart() -> None:
    """However many others there are."""
    far = 10_000 * DAY
    hours = [(n * HOUR, n * HOUR + MINUTE) for n in range(0, 400, 2)]
    times = Times.of([*hours, (far, far + 1)])
    assert len(times.ranges) <= MOST_RANGES
    assert times.ranges[-1] == (far, far + 1)
    assert all(any(a <= first and last <= b for a, b in times.ranges) for first, last in hours)


def test_ranges_are_widened_to_whole_minutes() -> None:
    times = Times.of([(DAY + 30_000_000, DAY + 31_000_000)])
    assert times.widened(0, 0).ranges == ((DAY, DAY + MINUTE - 1),)
    around = times.widened(60_000, 120_000)
    assert around.ranges == ((DAY - MINUTE, DAY + 3 * MINUTE - 1),)
    assert around.days == [date(1970, 1, 1), date(1970, 1, 2)]
    assert times.days == [date(1970, 1, 2)]


def test_nothing_is_before_the_first_moment_or_after_the_last() -> None:
    end = (LATEST - EARLIEST) // timedelta(microseconds=1)
    times = Times.of([(0, 0), (end, end)]).widened(600_000, 600_000)
    assert times.ranges[0][0] == 0
    assert times.ranges[1][1] == end
    assert times.days == [EARLIEST.date(), LATEST.date()]


def test_each_model_follows_from_events_and_comes_after_its_sources() -> None:
    for number, model in enumerate(MODELS):
        before = {each.table for each in MODELS[:number]}
        assert set(model.sources) <= before
        assert behind(model.name)
    assert behind("rate_hours") == {"partition_minutes"}
    assert behind("incidents") == {"incident_changes", "notifications"}


def test_gold_is_not_made_of_days_that_are_no_longer_kept() -> None:
    times = Times.of([(0, DAY), (3 * DAY + 5, 3 * DAY + 9), (9 * DAY, 9 * DAY)])
    assert times.since(date(1970, 1, 4)).ranges == ((3 * DAY + 5, 3 * DAY + 9), (9 * DAY, 9 * DAY))
    assert times.since(date(1970, 1, 1)) == times
