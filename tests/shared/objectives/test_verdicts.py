"""Incidents of objectives over time, in event time."""

from typing import Any

import pytest
from support.freshness_events import WELL, Row, freshness_event, late
from support.offset_events import NOW
from warren.contracts import StatusChangeEvent, group_key
from warren.settings import ObjectiveSettings
from warren.words import clock
from warren_core.objectives.group_record import (
    CorruptRecord,
    GroupRecord,
    after_end,
    after_event,
    decode,
    encode,
    remains,
)
from warren_core.objectives.limits import ObjectiveBook
from warren_core.objectives.readings import GroupLag

KEY = group_key("prod", "billing")
SECOND = 1000
LOST = late(None, reason="expired", bound_ms=1, lost_records=64)
UNHEARD = late(None, reason="timeout", bound_ms=None)


class Group:
    """One group that is measured again and again; its record goes through bytes each time."""

    def __init__(self, *objectives: dict[str, Any]) -> None:
        self.book = ObjectiveBook([ObjectiveSettings.model_validate(each) for each in objectives])
        self.record: GroupRecord | None = None
        self.lag: GroupLag | None = None
        self._offset = 0

    def measured(self, at: int, *rows: Row) -> list[tuple[str, str]]:
        """Type and status of what is told."""
        return [(each.type.split(".")[2], each.data.status) for each in self.told(at, *rows)]

    def told(self, at: int, *rows: Row) -> list[StatusChangeEvent]:
        self._offset += 1
        event = freshness_event(at * SECOND, *rows)
        limits = self.book.limits_for(event.cluster, event.group)
        after = after_event(self.record, event, self._offset, limits, lambda: self.lag)
        return self._taken(after)

    def ends(self) -> list[StatusChangeEvent]:
        self._offset += 1
        return self._taken(after_end(self.record, KEY, self._offset))

    def _taken(self, after: GroupRecord | None) -> list[StatusChangeEvent]:
        if after is None:
            return []
        self.record = decode(encode(after))
        assert self.record == after
        return [StatusChangeEvent.from_bytes(text.encode()) for text in after.untold]


LATE = {"name": "a", "max_freshness": 60, "for": 30, "clear_after": 20}


def test_it_opens_once_it_lasts_and_closes_once_all_is_well_for_long_enough() -> None:
    group = Group(LATE)
    told = [
        group.measured(at, WELL if is_well else late(70 * SECOND))
        for at, is_well in [(0, 0), (20, 0), (25, 1), (30, 0), (59, 0), (60, 0), (70, 0)]
    ]
    assert told == [[], [], [], [], [], [("freshness", "WARN")], []]
    assert group.measured(80, WELL) == []
    assert group.measured(90, late(61 * SECOND)) == []  # it begins anew
    assert group.measured(100, WELL) == []
    assert group.measured(119, WELL) == []
    assert group.measured(120, WELL) == [("freshness", "OK")]
    assert group.measured(130, WELL) == []


def test_a_change_says_how_late_the_group_is_and_what_is_left_until_loss() -> None:
    group = Group(LATE)
    rows = late(70 * SECOND, time_to_loss_ms=900_000), late(None, reason="timeout", bound_ms=90_000)
    assert group.told(0, *rows) == []
    (opening,) = (one.data for one in group.told(30, *rows))
    assert (opening.late_ms, opening.time_to_loss_ms) == (90_000, 900_000)
    assert group.told(40, WELL) == []
    (end,) = (one.data for one in group.told(60, WELL))
    assert (end.late_ms, end.time_to_loss_ms) == (None, None)


def test_nobody_closes_what_nobody_knows() -> None:
    group = Group({**LATE, "for": 0})
    assert group.measured(0, late(70 * SECOND)) == [("freshness", "WARN")]
    assert group.measured(10, WELL) == []
    assert group.measured(20, UNHEARD) == []
    assert group.measured(40, UNHEARD) == []
    assert group.measured(50, WELL) == []  # well since now, not since 10 s
    assert group.measured(70, WELL) == [("freshness", "OK")]


def test_what_is_unknown_ends_no_waiting_either() -> None:
    group = Group(LATE)
    assert group.measured(0, late(70 * SECOND)) == []
    assert group.measured(20, UNHEARD) == []
    assert group.measured(30, UNHEARD) == []
    assert group.measured(40, late(70 * SECOND)) == [("freshness", "WARN")]


def test_records_lost_are_told_of_every_group_at_once() -> None:
    group = Group()
    (change,) = group.told(0, WELL, LOST)
    assert (change.type, change.data.status) == ("warren.group.retention.changed", "ERR")
    assert (change.data.previous, change.data.reason) == ("OK", "lost_records")
    assert change.data.explanation == ("64 unread records deleted (orders/1)")
    assert change.data.objectives is not None
    (breach,) = change.data.objectives
    assert (breach.objective, breach.value, breach.since) == ("retention", 64, NOW)
    assert group.measured(10, WELL, WELL) == []
    (closed,) = group.told(70, WELL, WELL)
    assert (closed.data.status, closed.data.previous) == ("OK", "ERR")
    assert closed.data.incident_id == change.data.incident_id
    assert closed.data.opened_at == NOW
    assert closed.data.objectives == []


def test_how_many_were_lost_in_the_end_is_told_once() -> None:
    """Not those at the opening, nor fewer when the group reads on; what is lost later adds up."""
    group = Group()

    def lost(at: int, *counts: int) -> list[str | None]:
        rows = (
            late(None, reason="expired", bound_ms=1, lost_records=n) if n else WELL for n in counts
        )
        return [each.data.explanation for each in group.told(at, *rows)]

    assert lost(0, 62, 0) == ["62 unread records deleted (orders/0)"]
    assert lost(10, 900, 512) == []
    assert lost(20, 0, 512) == []  # the other one reads on
    assert lost(30, 0, 0) == ["1,412 unread records deleted (orders/0 and 1 more)"]
    assert lost(40, 30, 0) == []
    assert lost(50, 0, 0) == []
    assert lost(60, 2000, 0) == []
    assert lost(70, 0, 0) == ["3,442 unread records deleted (orders/0)"]
    assert lost(120, 0, 0) == []
    assert lost(130, 0, 0) == [None]


def test_less_than_an_hour_and_half_of_it_is_a_warning_and_loss_makes_it_an_error() -> None:
    group = Group()
    (change,) = group.told(0, late(5, time_to_loss_ms=59 * 60 * SECOND, retention_left=0.2))
    assert change.data.status == "WARN"
    assert change.data.explanation == (
        f"orders/0 may lose unread records at {clock(NOW + 59 * 60_000, NOW)} (in 59m; limit 1h)"
    )
    (worse,) = group.told(10, LOST)
    assert (worse.data.previous, worse.data.status) == ("WARN", "ERR")
    assert worse.data.incident_id == change.data.incident_id


def test_each_type_has_incidents_of_its_own() -> None:
    group = Group({**LATE, "for": 0, "severity": "ERR", "owner": "payments", "runbook": "http://r"})
    opened = group.told(0, late(None, reason="expired", bound_ms=70 * SECOND, lost_records=1))
    assert [each.type.split(".")[2] for each in opened] == ["freshness", "retention"]
    assert len({each.id for each in opened}) == 2 == len({e.data.incident_id for e in opened})
    assert opened[0].data.objectives is not None
    breach = opened[0].data.objectives[0]
    assert (breach.owner, breach.runbook) == ("payments", "http://r")
    ends = group.ends()
    assert [(each.data.status, each.data.reason) for each in ends] == [
        ("NOTFOUND", "group_deleted"),
        ("NOTFOUND", "group_deleted"),
    ]
    assert {each.data.incident_id for each in ends} == {e.data.incident_id for e in opened}
    assert group.ends() == []
    assert group.measured(-5, LOST) == []  # replayed
    (again,) = group.told(10, LOST)
    assert again.data.incident_id not in {each.data.incident_id for each in opened}


def test_lag_is_judged_with_the_measurement() -> None:
    group = Group({"name": "a", "max_lag": 10, "for": 0, "clear_after": 0})
    group.lag = GroupLag({"orders": (11, True)})
    (change,) = group.told(0, WELL)
    assert change.data.explanation == "11 records behind (limit 10)"
    assert change.data.total_lag == 11
    group.lag = None
    assert group.measured(10, WELL) == []
    group.lag = GroupLag({"orders": (10, True)})
    assert group.measured(20, WELL) == [("freshness", "OK")]


def test_an_objective_that_is_no_longer_there_closes_what_it_had_opened() -> None:
    group = Group({**LATE, "for": 0})
    assert group.measured(0, late(70 * SECOND)) == [("freshness", "WARN")]
    group.book = ObjectiveBook([])
    (end,) = group.told(10, UNHEARD)
    assert (end.data.status, end.data.reason) == ("OK", "objective_removed")
    assert end.data.explanation == "the objective was removed from the settings"


def broken(change: StatusChangeEvent) -> list[str]:
    return [f"{each.objective} {each.limit}" for each in change.data.objectives or ()]


def test_each_limit_is_told_though_another_one_is_broken_already() -> None:
    """Of one objective or of several: whose owner and remedy may be others."""
    lag = {"name": "b", "max_lag": 10, "for": 0, "clear_after": 0}
    group = Group({**LATE, "name": "a", "for": 0, "clear_after": 0}, lag)
    group.lag = GroupLag({"orders": (11, True)})
    (first,) = group.told(0, WELL)
    assert (first.data.previous, broken(first)) == ("OK", ["b max_lag"])
    (second,) = group.told(10, late(70 * SECOND))
    assert (second.data.previous, second.data.status) == ("WARN", "WARN")
    assert second.data.incident_id == first.data.incident_id
    assert second.id != first.id
    assert sorted(broken(second)) == ["a max_freshness", "b max_lag"]
    assert group.told(20, late(80 * SECOND)) == []
    group.lag = GroupLag({"orders": (1, True)})
    (third,) = group.told(30, late(90 * SECOND))
    assert (third.data.status, broken(third)) == ("WARN", ["a max_freshness"])
    group.book = ObjectiveBook([ObjectiveSettings.model_validate(lag)])
    (end,) = group.told(40, late(90 * SECOND))
    assert (end.data.status, end.data.reason) == ("OK", "objective_removed")


def test_a_record_that_is_dated_ahead_does_not_hide_what_follows() -> None:
    """All clocks were set back."""
    group = Group({**LATE, "for": 0})
    assert group.measured(3600, WELL) == []
    assert group.measured(10, late(70 * SECOND)) == []
    assert group.record is not None
    group.record = group.record.as_of(NOW + 5 * SECOND)
    assert group.measured(10, late(70 * SECOND)) == [("freshness", "WARN")]


def test_incidents_survive_a_record_that_another_version_wrote() -> None:
    group = Group()
    (opened,) = group.told(0, LOST)
    assert group.record is not None
    value = encode(group.record).replace(b'"v":3', b'"v":9')
    with pytest.raises(CorruptRecord):
        decode(value)
    group.record = remains(value)
    (closed,) = group.told(10, WELL)
    assert (closed.data.status, closed.data.incident_id) == ("OK", opened.data.incident_id)


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"v":3}', b"\xff"])
def test_what_cannot_be_read_is_said(value: bytes) -> None:
    with pytest.raises(CorruptRecord):
        decode(value)
    assert remains(value) is None


CHRONIC = {"name": "a", "max_freshness": 60, "for": 600, "clear_after": 60, "target": 0.99}
MINUTE = 60


def kept_but_for(group: Group, late_s: int, of_s: int, hours: float) -> dict[int, str]:
    """Late for so long, each time anew; status by the second in which it was told."""
    told: dict[int, str] = {}
    for at in range(0, round(hours * 3600), 20):
        row = late(70 * SECOND) if at % of_s < late_s else WELL
        for kind, status in group.measured(at, row):
            assert kind == "freshness"
            told[at] = status
    return told


def test_chronic_lateness_is_told_by_its_burn_rate() -> None:
    """A fifth of the time, never for as long as `for`: 20 times what a target of 99 % allows."""
    group = Group(CHRONIC)
    told = kept_but_for(group, late_s=2 * MINUTE, of_s=10 * MINUTE, hours=2)
    assert list(told.values()) == ["WARN"]
    (at,) = told
    assert 30 * MINUTE < at < 80 * MINUTE
    assert group.record is not None
    burning = group.record.objectives.standings["a/max_freshness/burn_rate"]
    assert "allows" in burning.sentence
    assert "max_freshness was not kept for" in burning.sentence
    quiet = {
        at: each.data.status
        for at in range(2 * 3600, 4 * 3600, 20)
        for each in group.told(at, WELL)
    }
    assert list(quiet.values()) == ["OK"]


def test_what_a_target_allows_is_not_told() -> None:
    """Half a percent of the time."""
    assert kept_but_for(Group(CHRONIC), late_s=20, of_s=4000, hours=5) == {}
    without = {name: value for name, value in CHRONIC.items() if name != "target"}
    assert kept_but_for(Group(without), late_s=2 * MINUTE, of_s=10 * MINUTE, hours=2) == {}


def test_what_nobody_knows_burns_nothing_and_its_history_stays_small() -> None:
    group = Group(CHRONIC)
    for at in range(0, 12 * 3600, 300):  # so rarely that two minutes of each five are known
        assert group.measured(at, UNHEARD if at % 600 else WELL) == []
    for at in range(12 * 3600, 400 * 3600, 3600):
        group.measured(at, late(70 * SECOND))
    assert group.record is not None
    assert len(encode(group.record)) < 6000
