import pytest
from freshness.events import NOW
from warren.contracts import FreshnessReason
from warren_freshness.figures.held_up import LateSince
from warren_freshness.figures.partition_figures import (
    Evidence,
    Row,
    Sizes,
    measure,
    to_remember,
    unheard_of,
)
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.topics.retention import LogGrowth, SizeLimit

HOUR = 3_600_000
NOTHING = Evidence({}, {}, {})


def state(
    committed: int = 5,
    log_end: int = 9,
    log_start: int = 0,
    lagging_since: int = NOW - 700,
    log_observed_at: int = NOW - 300,
) -> PartitionState:
    return PartitionState(
        LogPosition("orders", 0, committed),
        NOW - 1000,
        lagging_since,
        log_start,
        log_end,
        log_observed_at,
    )


def measured(
    at: PartitionState,
    reading: Reading | None = None,
    newest: int | None = None,
    retention: int | None = None,
    known: LateSince | None = None,
    now: int = NOW,
) -> Row:
    place = at.to_read
    return measure(
        at,
        Evidence(
            readings={} if reading is None or place is None else {place: reading},
            newest={} if newest is None else {at.log_end_position: newest},
            retention={"orders": retention},
        ),
        now,
        known,
    )


def test_exact() -> None:
    reading = Reading("record", first=NOW - HOUR, before=NOW - HOUR - 500)
    row = measured(state(), reading, newest=NOW - 100, retention=2 * HOUR)
    assert row == Row(
        partition=0,
        committed=5,
        freshness_ms=HOUR,
        reason="exact",
        bound_ms=0,
        lost_records=0,
        time_to_loss_ms=HOUR,
        oldest_at=NOW - HOUR,
        commit_lag_ms=HOUR - 500,
        append_lag_ms=HOUR + 400,
        late_since=NOW - HOUR,
        time_to_loss_reason="retention_ms",
        retention_left=0.5,
    )


def seen_late(reason: FreshnessReason) -> Row:
    """What could not be read was late at least since it was seen so."""
    return Row(0, 5, None, reason, 700, late_since=NOW - 700)


@pytest.mark.parametrize(
    ("at", "reading", "newest", "row"),
    [
        pytest.param(
            state(committed=9),
            None,
            NOW - 1200,
            Row(
                0, 9, 0, "caught_up", 300, commit_lag_ms=200, append_lag_ms=0, time_to_catch_up_ms=0
            ),
            id="caught up",
        ),
        pytest.param(
            state(committed=-1, lagging_since=UNKNOWN),
            None,
            None,
            Row(0, -1, None, "no_commit", None),
            id="no commit",
        ),
        pytest.param(
            state(committed=2, log_start=9),
            Reading("none", end=9),
            None,
            Row(0, 2, None, "expired", 700, 7, late_since=NOW - 700, time_to_catch_up_ms=0),
            id="everything that was not consumed is deleted",
        ),
        pytest.param(
            state(),
            Reading("none", before=NOW - 1500, end=9),
            None,
            Row(0, 5, 0, "control_only", 300, commit_lag_ms=500, append_lag_ms=0),
            id="only control records are left",
        ),
        pytest.param(
            state(),
            Reading("beyond_end"),
            None,
            Row(0, 5, None, "beyond_end", None),
            id="the log ends before what is to be read, whatever the event says",
        ),
        *(
            pytest.param(
                state(), Reading("record", first=first), None, seen_late("bad_timestamp"), id=name
            )
            for name, first in (
                ("no timestamp", -1),
                ("timestamp 0", 0),
                ("seconds", NOW // 1000),
                ("microseconds", NOW * 1000),
            )
        ),
        pytest.param(
            state(), Reading("corrupt"), None, seen_late("bad_timestamp"), id="a damaged batch"
        ),
        pytest.param(state(), None, None, seen_late("timeout"), id="not read"),
        pytest.param(
            state(), Reading("unread", resume_at=7), None, seen_late("timeout"), id="not read yet"
        ),
        pytest.param(
            state(), Reading("not_authorised"), None, seen_late("not_authorised"), id="refused"
        ),
    ],
)
def test_row(at: PartitionState, reading: Reading | None, newest: int | None, row: Row) -> None:
    assert measured(at, reading, newest) == row


@pytest.mark.parametrize(
    ("at", "reading", "expected"),
    [
        pytest.param(
            state(committed=12), None, {"reason": "caught_up"}, id="committed beyond the log end"
        ),
        pytest.param(
            state(committed=9, log_observed_at=NOW + 50),
            None,
            {"bound_ms": 0},
            id="an observation from the future bounds nothing below zero",
        ),
        pytest.param(
            state(committed=9),
            None,
            {"time_to_loss_ms": None, "time_to_loss_reason": None, "retention_left": None},
            id="nothing is lost that is consumed",
        ),
        pytest.param(
            state(),
            Reading("record", first=NOW - HOUR, log_start=8),
            {"reason": "expired", "lost_records": 0, "freshness_ms": None, "bound_ms": HOUR},
            id="records that expired after the event was made",
        ),
        pytest.param(
            state(committed=2, log_start=6, lagging_since=NOW),
            Reading("record", first=NOW + 50),
            {"reason": "expired", "freshness_ms": None, "bound_ms": 1},
            id="expired is never zero",
        ),
        pytest.param(
            state(committed=2, log_start=6),
            Reading("record", first=NOW - 20),
            {"reason": "expired", "bound_ms": 700, "late_since": NOW - 700},
            id="what is left may be younger than the lag that was seen",
        ),
        pytest.param(
            state(committed=2, log_start=6),
            Reading("unread"),
            {"reason": "timeout", "lost_records": 4, "freshness_ms": None},
            id="losses are known even if the record could not be read",
        ),
        pytest.param(
            state(log_end=UNKNOWN, lagging_since=UNKNOWN),
            None,
            {"reason": "timeout", "bound_ms": None},
            id="nothing is known of the log",
        ),
        pytest.param(
            state(),
            Reading("record", first=NOW + 250),
            {"freshness_ms": 0, "reason": "exact", "bound_ms": 250},
            id="clocks that differ",
        ),
        pytest.param(  # as late as one is that reads uncommitted records; aborted, maybe not at all
            state(),
            Reading("none", before=NOW - 1500, end=9, undecided_at=NOW - HOUR, stable_end=5),
            {
                "freshness_ms": HOUR,
                "reason": "open_transaction",
                "bound_ms": HOUR,
                "time_to_loss_ms": HOUR,
                "late_since": NOW - HOUR,
                "commit_lag_ms": 500,
            },
            id="behind an open transaction nobody knows who waits and who is late",
        ),
        pytest.param(
            state(),
            Reading("none", end=9, undecided_at=-1, stable_end=5),
            {"freshness_ms": None, "reason": "open_transaction", "bound_ms": 700},
            id="an open transaction with a bad timestamp",
        ),
    ],
)
def test_figures(at: PartitionState, reading: Reading | None, expected: dict[str, object]) -> None:
    row = measured(at, reading, retention=2 * HOUR)
    assert {name: getattr(row, name) for name in expected} == expected


def test_the_limit_that_comes_first_counts() -> None:
    """1,000 bytes a second: of the 2,000 bytes that are kept, 400 at most are after the offset."""
    at, reading = state(), Reading("record", first=NOW - HOUR)
    growth = LogGrowth()
    growth.observe(NOW - 2000, 400, 0, 4)
    growth.observe(NOW - 1000, 1400, 0, 9)
    seen, limits = {("orders", 0): growth}, {"orders": SizeLimit(2000, 100)}

    def to_loss(retention: int | None, sizes: Sizes) -> tuple[int | None, str | None, float | None]:
        row = measure(at, Evidence({at.committed: reading}, {}, {"orders": retention}, sizes), NOW)
        return row.time_to_loss_ms, row.time_to_loss_reason, row.retention_left

    assert to_loss(2 * HOUR, Sizes(limits, seen)) == (600, "retention_bytes", 0.8)
    assert to_loss(None, Sizes(limits, seen)) == (600, "retention_bytes", 0.8)
    assert to_loss(HOUR + 500, Sizes(limits, seen)) == (500, "retention_ms", 0.0)
    assert to_loss(2 * HOUR, Sizes(limits)) == (None, "size_unknown", None)
    assert to_loss(2 * HOUR, Sizes(limits, are_refused=True)) == (None, "not_authorised", None)
    assert to_loss(2 * HOUR, Sizes()) == (HOUR, "retention_ms", 0.5)
    assert to_loss(None, Sizes()) == (None, None, None)
    growth.observe(NOW + HOUR, 1400, 0, 9)
    growth.observe(NOW + 2 * HOUR, 1400, 0, 9)
    assert to_loss(None, Sizes(limits, seen))[1] == "retention_bytes", "it grew once"


def test_why_nobody_knows_how_long_it_is_until_loss() -> None:
    at, reading = state(), Reading("record", first=NOW - HOUR)
    nothing_known = measure(at, Evidence({at.committed: reading}, {}, {}), NOW)
    assert (nothing_known.time_to_loss_ms, nothing_known.time_to_loss_reason) == (
        None,
        "config_unknown",
    )
    for unread in (Reading("unread"), Reading("not_authorised"), Reading("record", first=1)):
        assert measured(at, unread, retention=HOUR).time_to_loss_reason == "oldest_unknown"
        assert measured(at, unread, retention=None).time_to_loss_reason is None
    for_ever = measure(at, Evidence({}, {}, {"orders": None}), NOW)
    assert for_ever.time_to_loss_reason is None
    by_size = Evidence({}, {}, {"orders": None}, Sizes({"orders": SizeLimit(9, 9)}))
    assert measure(at, by_size, NOW).time_to_loss_reason == "oldest_unknown"


def test_never_committed_is_as_late_at_least_as_what_came_since() -> None:
    """Also for an instance that takes over, which has not seen it come."""
    at = state(committed=-1, lagging_since=NOW - 700)
    row = measured(at)
    assert (row.freshness_ms, row.reason, row.bound_ms) == (None, "no_commit", 700)
    assert row.late_since == NOW - 700
    known = to_remember(at, row, NOTHING)
    later = measured(state(committed=-1, lagging_since=UNKNOWN), known=known, now=NOW + 60_000)
    assert later.bound_ms == 60_700
    assert unheard_of(at, known).reason == "timeout", "it may have committed since"
    assert measured(state(committed=5), known=known).late_since == NOW - 700, "by the events alone"
    empty = state(committed=-1, lagging_since=UNKNOWN, log_end=0)
    assert measured(empty, known=known).bound_ms is None, "the topic was made anew"


def test_expired_is_as_late_as_the_first_record_that_is_left_at_least() -> None:
    at = state(committed=2, log_start=6)
    assert at.to_read == LogPosition("orders", 0, 6)
    row = measured(at, Reading("record", first=NOW - HOUR, before=NOW - 1), 1, retention=2 * HOUR)
    assert row == Row(
        partition=0,
        committed=2,
        freshness_ms=None,
        reason="expired",
        bound_ms=HOUR,
        lost_records=4,
        time_to_loss_ms=HOUR,
        oldest_at=NOW - HOUR,
        late_since=NOW - HOUR,
        time_to_loss_reason="retention_ms",
        retention_left=0.5,
    )


@pytest.mark.parametrize(
    ("produced", "consumed", "left"),
    [(10, 12, 2000), (0, 4, 1000), (10, 10, None), (None, 9, None), (1, None, None)],
)
def test_how_long_until_a_group_has_caught_up(
    produced: float | None, consumed: float | None, left: int | None
) -> None:
    at = state()._replace(produce_rate=produced, consume_rate=consumed)
    row = measured(at, Reading("record", first=NOW - HOUR))
    assert (row.produce_rate, row.consume_rate) == (produced, consumed)
    assert row.time_to_catch_up_ms == left
    assert measured(at._replace(steps=1)).time_to_catch_up_ms == (left and left * 3 // 4)
    assert measured(at._replace(log_start=7)).time_to_catch_up_ms == (left and left // 2)
    assert measured(at._replace(log_end=UNKNOWN)).time_to_catch_up_ms is None


def test_what_was_read_once_bounds_what_comes_after() -> None:
    """The record is deleted, then nothing can be read, then the group is not heard of."""
    exact = measured(state(), Reading("record", first=NOW - HOUR))
    known = to_remember(state(), exact, NOTHING)
    assert known == LateSince(5, NOW - HOUR)
    later = NOW + 1000
    young = Reading("record", first=later - 20, log_start=8)
    for reading in (young, Reading("none", end=9, log_start=9), Reading("unread")):
        row = measured(state(), reading, known=known, now=later)
        assert (row.freshness_ms, row.bound_ms) == (None, HOUR + 1000)
        assert to_remember(state(), row, NOTHING) == known
    silent = unheard_of(state(), known)
    assert (silent.bound_ms, silent.late_since) == (None, NOW - HOUR)
    assert to_remember(state(), silent, NOTHING) == known


def test_an_estimate_stays_when_the_events_begin_anew() -> None:
    """A collector or this service that starts again knows of the group since then only."""
    between = Reading("estimated", first=NOW - 2 * HOUR, latest=NOW - HOUR // 60)
    row = measured(state(lagging_since=NOW - HOUR), between)
    assert (row.reason, row.late_since, row.bound_ms) == ("estimated", NOW - HOUR, HOUR)
    known = to_remember(state(), row, NOTHING)
    later = measured(state(lagging_since=NOW - 5), between, known=known, now=NOW + 1000)
    assert (later.late_since, later.bound_ms) == (NOW - HOUR, HOUR)


def test_nothing_of_it_holds_once_the_group_has_committed() -> None:
    known = LateSince(4, NOW - HOUR)
    row = measured(state(committed=5), Reading("record", first=NOW - 20, log_start=8), known=known)
    assert (row.bound_ms, row.late_since) == (700, NOW - 700)
    assert unheard_of(state(committed=5), known).late_since is None


def test_control_records_alone_make_nobody_late() -> None:
    """The log ended after the committed offset for long, but there was no record."""
    reading = Reading("none", end=9)
    none_left = measured(state(), reading)
    known = to_remember(
        state(), none_left, Evidence({LogPosition("orders", 0, 5): reading}, {}, {})
    )
    assert known == LateSince(5, None, 9)
    assert measured(state(), Reading("unread"), known=known).bound_ms is None
    assert measured(state(log_end=12), Reading("unread"), known=known).bound_ms == 300


def test_bad_timestamps_are_no_basis_for_the_helper_figures() -> None:
    reading = Reading("record", first=NOW - HOUR, before=-1)
    row = measured(state(), reading, newest=NOW * 1000)
    assert (row.commit_lag_ms, row.append_lag_ms) == (None, None)
    row = measured(state(), Reading("record", first=NOW - 9, before=NOW - 10), newest=-1)
    assert (row.commit_lag_ms, row.append_lag_ms) == (0, None)
    assert measured(state(committed=9), newest=-1).commit_lag_ms is None


def test_how_old_a_record_from_the_future_is_nobody_knows() -> None:
    """Not then, and not once its timestamp has passed: the record was there before."""
    ahead = Reading("record", first=NOW + HOUR)
    row = measured(state(), ahead)
    assert row == Row(0, 5, None, "bad_timestamp", 700, late_since=NOW - 700)
    known = to_remember(state(), row, NOTHING)
    unread = measured(state(), known=known, now=NOW + HOUR)
    known = to_remember(state(), unread, NOTHING, known)
    later = measured(state(), ahead, known=known, now=NOW + 2 * HOUR)
    assert (later.freshness_ms, later.reason) == (None, "bad_timestamp")
    assert later.bound_ms == 2 * HOUR + 700
    moved = measured(state(committed=6), ahead, known=known, now=NOW + 2 * HOUR)
    assert (moved.freshness_ms, moved.reason) == (HOUR, "exact")


def test_a_group_that_was_not_heard_of_for_long() -> None:
    assert unheard_of(state(committed=9)) == Row(0, 9, None, "timeout", None)
    assert unheard_of(state(committed=-1, lagging_since=UNKNOWN)).reason == "no_commit"
    assert unheard_of(state(committed=2, log_start=6)).lost_records == 4
