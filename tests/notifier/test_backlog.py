"""What was before the first start."""

from __future__ import annotations

from notifier.builders import change
from warren_notifier.source.backlog import Backlog


def test_only_what_lasts_is_told() -> None:
    backlog = Backlog(until=5)
    backlog.fold(change("WARN", group="a", event_id="a1"), 0)
    backlog.fold(change("ERR", group="b", event_id="b1"), 1)
    backlog.fold(change("ERR", group="a", event_id="a2"), 2)
    backlog.fold(change("OK", group="b", event_id="b2"), 3)
    assert [(c.event_id, offset) for c, offset in backlog.lasting()] == [("a2", 2)]


def test_where_it_ends() -> None:
    backlog = Backlog(until=5)
    assert backlog.covers(4)
    assert not backlog.covers(5)
    assert [backlog.ends_with(offset) for offset in (3, 4, 7)] == [False, True, True]
