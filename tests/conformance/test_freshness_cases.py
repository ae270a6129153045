"""What earlier tools answer, and what Warren does: the same, or something else for a reason.

`VERDICTS` names every case of the files; those that can be computed are, with Warren's own code.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from support.conformance import conformance_cases
from warren_freshness.figures.partition_figures import Evidence, Row, measure
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.record_search import RecordSearch

CFT = conformance_cases("freshness/cft_freshness_cases.json")
DATADOG = conformance_cases("freshness/datadog_interpolation_cases.json")
KLAG = conformance_cases("freshness/klag_cases.json")
KLAG_EXPORTER = conformance_cases("freshness/klag_exporter_cases.json")
KLE_COLLECTOR = conformance_cases("freshness/kle_collector_cases.json")
KLE_TABLE = conformance_cases("freshness/kle_lookup_table_cases.json")

EXACT = "different: the record itself is read, nothing is estimated from other points"
NO_BURROW = "different: positions come from warren.offsets, no Burrow is asked"
ELSEWHERE = "not a matter of freshness: "
HOUR = 3_600_000

VERDICTS: dict[str, str] = {
    "cft/tracker/testNoLag": "same",
    "cft/tracker/testInvalidOffset": "same, and the reason is said: bad_timestamp",
    "cft/tracker/testUncommittedForOneMillisecond": "same",
    "cft/tracker/testCouldNotLoadLatestTimestamp": "same, and the reason is said: timeout",
    "cft/tracker/testSeekToBeginningForFirstOffset": "same",
    "cft/pipeline/testTranslateZeroLagAsUpToDate": "same",
    "cft/pipeline/testLargeCurrentLag": "same",
    "cft/pipeline/testFailClusterWhenInterruptedWaitingForAConsumer": (
        "different: nothing waits for a free reader, all partitions of a broker share requests"
    ),
    "cft/pipeline/testFailConsumerButNotClusterIfComputationFails": (
        "same in effect: what cannot be read is timeout, the rest is measured"
    ),
    "cft/pipeline/testBurrowFailReadClustersRuntime": NO_BURROW,
    "cft/pipeline/testBurrowFailReadClustersIOException": NO_BURROW,
    "cft/pipeline/testBurrowFailingToReadConsumerGroupsMarksClusterFailure": NO_BURROW,
    "cft/pipeline/testBurrowFailingToReadConsumerGroupStatusMarksGroupError": NO_BURROW,
    "cft/pipeline/testBurrowMissingConsumerGroupPartitionsMarksErrorForGroup": (
        "different: a group without partitions has an event without topics"
    ),
    "cft/pipeline/testBurrowMissingConsumerGroupPartitionEndOffsetMarksMissing": (
        "different: a partition that was never committed is no failure, its reason is no_commit"
    ),
    "cft/pipeline/testFailToSubmitTaskExitsTracker": (
        "different: there are no tasks to be rejected; a pass that fails is logged and repeated"
    ),
    "cft/configuration/": "different: clusters are configured once, for all services",
    "cft/burrow_http/": NO_BURROW,
    "cft/observed/behind3": "same",
    "cft/observed/at0": "same",
    "cft/observed/lost_data_idle": (
        "different: at least the age of the first record that is left, and how many are lost"
    ),
    "cft/observed/lost_data_with_live_traffic": (
        "different: new records do not make a group fresh that has old ones to read"
    ),
    "cft/observed/phantom_lag_1": "different: lag of control records only is caught up",
    "cft/observed/gauge_after_reads_start_failing": (
        "different: the value is null, its reason timeout, and bound_ms goes on growing"
    ),
    "cft/observed/gauge_after_group_disappears": "different: a tombstone removes it",
    "cft/observed/read_throws_twice": (
        "different: warren_freshness_reads_total{outcome='unread'} counts them"
    ),
    "cft/observed/side_effect": "different: no consumer group, nothing is committed",
    "datadog/interpolate/": EXACT,
    "datadog/compact/": "different: there is no table of points to be kept small",
    "datadog/reset/": "different: a topic created anew has another id, so its old times are unused",
    "datadog/report/floor at the low watermark": (
        "same, but as a lower bound, and the lost records are counted"
    ),
    "datadog/report/cap without low watermark": EXACT,
    "datadog/history_budget/": "different: one time per position in use is kept, no history",
    "klag/whole_log/valid anchors": EXACT,
    "klag/whole_log/start timestamp 0": "different: only the record at the position matters",
    "klag/whole_log/end timestamp -1": "different: only the record at the position matters",
    "klag/whole_log/degenerate span": "different: an empty log is caught up",
    "klag/whole_log/committed before log start": "different: expired, with a lower bound",
    "klag/whole_log/committed after log end": "different: caught up",
    "klag/whole_log/midpoint": EXACT,
    "klag/whole_log/caught up": "different: 0, not the time since the last record",
    "klag/whole_log/past the max-timestamp record": EXACT,
    "klag/whole_log/slope uses the max-timestamp offset": EXACT,
    "klag/poll_history/": "different: the first pass has values, no history is needed",
    "klag/producer_stale/": "different: whether anybody produces makes no difference",
    "klag/retention_percent/": "different: time until loss, and lost records, instead of a share",
    "klag_exporter/calculator/offset lag": f"{ELSEWHERE}the evaluator computes lag",
    "klag_exporter/calculator/time lag": "same",
    "klag_exporter/calculator/committed above the end": "same",
    "klag_exporter/calculator/data loss (newest code)": "same loss, different: never 0 seconds",
    "klag_exporter/calculator/data loss (0.1.15 and before)": (
        "same loss, different: never 0 seconds"
    ),
    "klag_exporter/calculator/ratio from the README": "different: time until loss instead",
    "klag_exporter/rate/": f"{ELSEWHERE}Warren has no time to catch up yet",
    "klag_exporter/wedged_behind_transaction_scan/": (
        "same: the last committed record is looked for in as many offsets"
    ),
    "klag_exporter/group_state_code/": f"{ELSEWHERE}warren.groups has the states by name",
    "kle_collector/snapshots/one partition": EXACT,
    "kle_collector/snapshots/max over three partitions": "same rule: the worst partition counts",
    "kle_collector/snapshots/sums over two topics": f"{ELSEWHERE}the evaluator sums lags",
    "kle_collector/snapshots/no committed offset": "same: null (no_commit), not NaN",
    "kle_collector/eviction/member id changes": "different: values have no member labels",
    "kle_collector/eviction/group disappears": "same: a tombstone",
    "kle_collector/eviction/partition disappears": "same",
    "kle_collector/group_offsets/": "same: no_commit",
    "kle_collector/filters/": f"{ELSEWHERE}the collector decides which groups are watched",
    "kle_table/cases/": "different: no table of points, so no TooFewPoints, no Infinity, no guess",
    "kle_table/most_recent_point/": "different: no table of points",
    "kle_table/redis_retention/": "different: Redis holds single times, each with its own expiry",
}


def named(tool: str, cases: Mapping[str, Any]) -> Iterator[str]:
    """`tool/section/id` of every case; sections without ids count as one."""
    for section, content in cases.items():
        if section in ("source", "definition", "units") or section.endswith(("_note", "_order")):
            continue
        listed = content.get("cases", []) if isinstance(content, dict) else content
        ids = [case["id"] for case in listed if isinstance(case, dict) and "id" in case]
        yield from (f"{tool}/{section}/{name}" for name in ids) if ids else [f"{tool}/{section}/"]


ALL = [
    *named("cft", CFT),
    *named("datadog", DATADOG),
    *named("klag", KLAG),
    *named("klag_exporter", KLAG_EXPORTER),
    *named("kle_collector", KLE_COLLECTOR),
    *named("kle_table", KLE_TABLE),
]


@pytest.mark.parametrize("name", sorted(set(ALL)))
def test_every_case_has_a_verdict(name: str) -> None:
    assert name in VERDICTS or name[: name.rindex("/") + 1] in VERDICTS


def test_every_verdict_has_a_case() -> None:
    assert VERDICTS.keys() <= {*ALL, *{name[: name.rindex("/") + 1] for name in ALL}}


def figures(
    committed: int,
    log_end: int,
    times: Mapping[int, int] | None,
    log_start: int = 0,
    observed_at: int = NOW,
) -> Row:
    """What Warren says of a group at `committed` in a log of {offset: append time}.

    None in place of the log: it cannot be read.
    """
    lagging_since = observed_at if log_end > committed >= 0 else UNKNOWN
    place = LogPosition("t", 0, committed)
    state = PartitionState(place, NOW, lagging_since, log_start, log_end, observed_at)
    readings: dict[LogPosition, Reading] = {}
    if state.to_read is not None and times is not None:
        start = state.to_read.offset
        first = next((time for offset, time in sorted(times.items()) if offset >= start), None)
        found = Reading("none", end=log_end) if first is None else Reading("record", first=first)
        readings[state.to_read] = found
    return measure(state, Evidence(readings, {}, {}), NOW)


def by_id(cases: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in cases}


@pytest.mark.parametrize("case", CFT["tracker"], ids=lambda case: case["id"])
def test_cft_tracker(case: dict[str, Any]) -> None:
    committed = case["committed"]
    times: dict[int, int] | None = None
    for record in case["fetch"] or []:
        shifted = NOW + record.get("timestamp_minus_now_ms", 0)
        times = {committed: record.get("timestamp_ms", shifted)}
    log_end = committed if case["up_to_date"] else committed + 1
    row = figures(committed, log_end, times)
    assert row.freshness_ms == case["expect"]["freshness_ms"]
    if row.freshness_ms is None:
        assert row.reason == ("timeout" if times is None else "bad_timestamp")


def test_cft_pipeline() -> None:
    cases = by_id(CFT["pipeline"])
    assert figures(10, 10, {}).freshness_ms == 0
    age = cases["testLargeCurrentLag"]["record_age_ms"]
    assert age > 2**31
    assert figures(1, 10, {1: NOW - age}).freshness_ms == age
    assert figures(-1, 10, {}).reason == "no_commit"


def test_cft_observed() -> None:
    ten = {offset: NOW - (10 - offset) * 60_000 for offset in range(10)}
    assert figures(7, 10, ten).freshness_ms == 180_000
    assert figures(0, 10, ten).freshness_ms == 600_000
    old = dict.fromkeys(range(34, 60), NOW - 20 * HOUR)
    for log in (old, old | {60: NOW - 300}):
        row = figures(29, max(log) + 1, log, log_start=34)
        assert (row.reason, row.bound_ms, row.lost_records) == ("expired", 20 * HOUR, 5)
        assert row.freshness_ms is None
    phantom = figures(9, 10, dict.fromkeys(range(9), NOW))
    assert (phantom.reason, phantom.freshness_ms) == ("control_only", 0)
    failing = figures(7, 10, None, observed_at=NOW - 5000)
    assert (failing.reason, failing.freshness_ms, failing.bound_ms) == ("timeout", None, 5000)


def test_a_group_that_disappears() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"t": [At(1, 2), At(1, 2)]}), 0)
    positions.fold(offset_event({}, removed={"t": [1]}, observed_at=NOW + 1), 0)
    (snapshot,) = positions.snapshots(CLUSTER, [0])
    assert [state.committed.partition for state in snapshot.states] == [0]
    positions.fold(offset_event({}, deleted=True, observed_at=NOW + 2), 0)
    assert positions.snapshots(CLUSTER, [0]) == []
    assert positions.deleted(CLUSTER) == [(CLUSTER, GROUP)]


def test_datadog_floor_at_the_low_watermark() -> None:
    case = by_id(DATADOG["report"])["floor at the low watermark"]
    seconds = case["expect_s"]
    row = figures(case["committed"], case["high"], {case["low"]: NOW - seconds * 1000}, case["low"])
    assert (row.freshness_ms, row.bound_ms) == (None, seconds * 1000)
    assert (row.reason, row.lost_records) == ("expired", case["low"] - case["committed"])


@pytest.mark.parametrize("case", KLAG["whole_log"], ids=lambda case: case["id"])
def test_klag_whole_log(case: dict[str, Any]) -> None:
    start, _, end, _, _, committed = case["p"]
    age = 7000
    row = figures(committed, end, {max(start, committed): NOW - age}, start)
    expected = {
        "degenerate span": (0, "caught_up", 0),
        "caught up": (0, "caught_up", 0),
        "committed after log end": (0, "caught_up", 0),
        "committed before log start": (None, "expired", start - committed),
    }
    found = (row.freshness_ms, row.reason, row.lost_records)
    assert found == expected.get(case["id"], (age, "exact", 0))
    assert row.reason != "expired" or row.bound_ms == age


@pytest.mark.parametrize("case", KLAG["retention_percent"])
def test_klag_retention_percent_hides_what_is_lost(case: dict[str, Any]) -> None:
    start, end, committed = case["start"], case["end"], case["committed"]
    row = figures(committed, end, {start: NOW - 1, committed: NOW - 1}, start)
    assert row.lost_records == max(start - committed, 0)


def test_klag_exporter_calculator() -> None:
    cases = by_id(KLAG_EXPORTER["calculator"])
    late = cases["time lag"]
    age = late["now_ms"] - late["timestamp_ms"]
    row = figures(late["committed"], late["high"], {late["committed"]: NOW - age}, late["low"])
    assert row.freshness_ms == late["lag_seconds"] * 1000
    above = cases["committed above the end"]
    assert figures(above["committed"], above["high"], {}).freshness_ms == above["lag"]
    for name in ("data loss (newest code)", "data loss (0.1.15 and before)"):
        lost = cases[name]
        row = figures(lost["committed"], lost["high"], {lost["low"]: NOW - HOUR}, lost["low"])
        assert row.lost_records == lost["messages_lost"]
        assert row.freshness_ms is None
        assert row.bound_ms == HOUR != lost["lag_seconds"] * 1000


@pytest.mark.parametrize("case", KLAG_EXPORTER["wedged_behind_transaction_scan"])
def test_klag_exporter_looks_back_as_far(case: dict[str, Any]) -> None:
    committed, low = case["committed"], case["low"]
    """Where that costs little: batches are small."""
    start = RecordSearch.planned(LogPosition("t", 0, committed), low, expected=100).fetch_offset
    assert list(range(committed - 1, start - 1, -1)) == case["expect"]


def test_kle_no_committed_offset() -> None:
    case = by_id(KLE_COLLECTOR["snapshots"])["no committed offset"]
    assert math.isnan(float(case["expect"]["kafka_consumergroup_group_lag_seconds"]))
    row = figures(-1, 200, {100: NOW})
    assert (row.freshness_ms, row.reason) == (None, "no_commit")


@pytest.mark.parametrize("case", KLE_TABLE["cases"], ids=lambda case: case["id"])
def test_kle_lookups_are_never_infinite_and_never_too_few(case: dict[str, Any]) -> None:
    """The points stand for records: what is looked up is at one, between two, or at the end."""
    log = {offset: NOW - 10_000 + time for offset, time in case["add"] if offset >= 0}
    log_end = max(log, default=-1) + 1
    for lookup in case["lookup"]:
        offset = max(lookup["offset"], 0)
        row = figures(offset, log_end, log, min(log, default=0))
        if offset >= log_end:
            assert (row.freshness_ms, row.reason) == (0, "caught_up")
        else:
            is_left = offset >= min(log)
            assert (row.freshness_ms if is_left else row.bound_ms) is not None
            assert row.oldest_at in log.values()
