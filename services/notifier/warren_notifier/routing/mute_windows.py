"""Mute windows: times of the week, in a time zone, at which a route tells nothing. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from warren.settings.notifier import DAYS, MuteWindow

_DAY = timedelta(days=1)
_WEEK = 7  # windows that follow on one another are followed for so many days


def muted_until(windows: Sequence[MuteWindow], now: int) -> int | None:
    """When the windows that hold at `now`, and those that they run into, are over; None: none
    holds. Unix milliseconds.
    """
    end = _covered_until(windows, now)
    if end is None:
        return None
    limit = now + _WEEK * 86_400_000
    while end < limit and (further := _covered_until(windows, end)) is not None:
        end = further
    return end


def _covered_until(windows: Iterable[MuteWindow], at: int) -> int | None:
    ends = [end for window in windows for begin, end in _around(window, at) if begin <= at < end]
    return max(ends, default=None)


def _around(window: MuteWindow, at: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the window that began on the day of `at`, and of the one before."""
    zone = ZoneInfo(window.zone)
    today = datetime.fromtimestamp(at / 1000, zone).date()
    for day in (today - _DAY, today):
        if not window.days or DAYS[day.weekday()] in window.days:
            begin, end = window.begin, window.end
            last = day if end is not None and begin < end else day + _DAY
            # Of a wall clock's time that comes twice a window takes the first as its begin and the
            # second as its end; one that does not come at all is as much later (PEP 495: fold=0).
            yield (
                _milliseconds(day, begin, zone, fold=0),
                max(_milliseconds(last, end or time(), zone, fold=fold) for fold in (0, 1)),
            )


def _milliseconds(day: date, at: time, zone: ZoneInfo, fold: int) -> int:
    moment = datetime.combine(day, at, zone).replace(fold=fold)
    return round(moment.astimezone(UTC).timestamp() * 1000)
