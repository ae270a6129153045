"""What was before the first start."""

from __future__ import annotations

from notifier.builders import change
from warren_notifier.source.backlog import History


def test_only_what_lasts_is_told() -> None:
    history = History(until=5)
    history.fold(change("WARN", group="a", event_id="a1"), 0)
    history.fold(change("ERR", group="b", event_id="b1"), 1)
    history.fold(change("ERR", group="a", event_id="a2"), 2)
    history.fold(change("OK", group="b", event_id="b2"), 3)
    assert [(c.event_id, offset) for c, offset in history.lasting()] == [("a2", 2)]


def test_where_it_ends() -> None:
    history = History(until=5)
    assert history.covers(4)
    assert not history.covers(5)
    assert [history.ends_with(offset) for offset in (3, 4, 7)] == [False, True, True]
