"""A group's status changes are one incident: what it says after each of them."""

import json

import pytest
from support.condition_changes import OPENED_AT, STORM, condition_change, late, losing, over, stuck
from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    BadPartition,
    Cause,
    CauseEvidence,
    Finding,
    GroupIncident,
    GroupIncidentEvent,
    StatusChangeEvent,
)
from warren.errors import ContractViolation
from warren_core.group_incident import LARGEST, fold


def folded(*changes: StatusChangeEvent) -> list[GroupIncident]:
    known: GroupIncidentEvent | None = None
    found = []
    for change in changes:
        event = fold(known, change)
        if event is not None:
            assert fold(known, change) == event
            known = GroupIncidentEvent.from_bytes(event.to_bytes())
            found.append(known.data)
    return found


def test_it_opens_with_its_first_condition_and_ends_with_its_last() -> None:
    found = folded(*STORM)
    assert {each.incident_id for each in found} == {"freshness-1"}
    assert {each.opened_at for each in found} == {OPENED_AT}
    assert [(one.previous, one.status, one.worst) for one in found] == [
        ("OK", "WARN", "WARN"),
        ("WARN", "ERR", "ERR"),
        ("ERR", "ERR", "ERR"),
        ("ERR", "ERR", "ERR"),
        ("ERR", "ERR", "ERR"),
        ("ERR", "OK", "ERR"),
    ]
    assert [one.is_open for one in found] == [True] * 5 + [False]
    assert found[-1].closed_at == OPENED_AT + 5_000
    assert found[-1].lost_records == 64
    assert found[-1].ids == ["freshness-1", "status-1", "retention-1"]


def test_the_root_comes_first_and_what_is_over_says_since_until_and_why() -> None:
    *_, last = folded(*STORM[:5])
    assert [(each.type, each.since, each.until) for each in last.conditions] == [
        (STATUS_CHANGED, OPENED_AT + 1_000, OPENED_AT + 4_000),
        (RETENTION_CHANGED, OPENED_AT + 2_000, None),
        (FRESHNESS_CHANGED, OPENED_AT, OPENED_AT + 3_000),
    ]
    root, _, lateness = last.conditions
    assert last.ended == [root]
    assert last.over == [root, lateness]
    assert root.end is not None
    assert (root.change.status, root.end.status, root.event_id) == ("ERR", "OK", STORM[4].id)
    assert last.losing_since == OPENED_AT + 2_000


def test_an_end_of_what_is_not_known_changes_nothing() -> None:
    assert folded(over(STATUS_CHANGED, 1)) == []
    found = folded(stuck(0), over(STATUS_CHANGED, 1), over(STATUS_CHANGED, 2))
    assert [one.status for one in found] == ["ERR", "OK"]


def test_what_is_of_an_incident_before_changes_nothing() -> None:
    after = folded(stuck(0), over(STATUS_CHANGED, 1), stuck(9, turn=2))
    assert folded(stuck(9, turn=2), stuck(0), over(STATUS_CHANGED, 1)) == after[-1:]


def test_a_condition_whose_end_nobody_saw_begins_again_in_the_same_incident() -> None:
    *_, last = folded(stuck(0), late(1), stuck(9, turn=2))
    assert last.incident_id == "status-1"
    assert [(each.incident_id, each.openings) for each in last.open] == [
        ("status-2", 2),
        ("freshness-1", 1),
    ]


def test_a_condition_that_comes_again_is_counted_and_is_open_once_more() -> None:
    found = folded(late(0), stuck(1), over(STATUS_CHANGED, 2), stuck(3, turn=2))
    assert [(each.type, each.openings) for each in found[-1].conditions] == [
        (STATUS_CHANGED, 2),
        (FRESHNESS_CHANGED, 1),
    ]
    assert found[-1].over == []


def test_after_its_end_the_next_change_opens_another_one() -> None:
    found = folded(stuck(0), over(STATUS_CHANGED, 1), late(2))
    assert [one.incident_id for one in found] == ["status-1", "status-1", "freshness-1"]
    assert (found[-1].previous, found[-1].worst, len(found[-1].conditions)) == ("OK", "WARN", 1)


def test_losses_that_pass_while_their_condition_lasts_stay_lost() -> None:
    """30, 836 in the end, then only near to a loss, then 32 more: 868."""
    losses = [losing(second, lost) for second, lost in enumerate([30, 836, 0, 32])]
    found = folded(*losses, over(RETENTION_CHANGED, 4))
    assert [one.lost_records for one in found] == [30, 836, 836, 868, 868]


def test_a_loss_that_a_cause_says_too_is_counted_once_and_never_shrinks() -> None:
    lost = Finding(name="records_lost", sentence="", evidence=CauseEvidence(lost_records=64))
    cause = Cause(name="stuck_record", sentence="", also=[lost])
    found = folded(stuck(0, cause=cause), losing(1, 64), over(RETENTION_CHANGED, 2))
    assert [one.lost_records for one in found] == [64, 64, 64]
    alone = folded(stuck(0, cause=cause), over(STATUS_CHANGED, 1))
    assert [one.lost_records for one in alone] == [64, 64]


def test_losses_by_two_objectives_are_added_and_each_stays_when_it_passes() -> None:
    first, second = losing(0, 64).data.objectives, losing(0, 36).data.objectives
    assert first is not None
    assert second is not None
    other = [each.model_copy(update={"objective": "own"}) for each in second]
    both = condition_change(RETENTION_CHANGED, "ERR", 1, objectives=[*first, *other])
    one = condition_change(RETENTION_CHANGED, "ERR", 2, objectives=other)
    found = folded(losing(0, 64), both, one, over(RETENTION_CHANGED, 3))
    assert [each.lost_records for each in found] == [64, 100, 100, 100]
    assert [each.loses for each in found] == [True, False, False, False]


def test_what_a_change_did_does_not_hang_on_its_time() -> None:
    """Freshness and retention of one measurement have the same."""
    found = folded(late(0), stuck(0), over(FRESHNESS_CHANGED, 1), over(STATUS_CHANGED, 1))
    assert [(each.by.split(".")[2], each.did) for each in found] == [
        ("freshness", "began"),
        ("status", "began"),
        ("freshness", "ended"),
        ("status", "ended"),
    ]
    assert [len(each.ended) for each in found] == [0, 0, 1, 1]
    assert [each.revision for each in found] == [1, 2, 3, 4]


def test_a_condition_that_comes_again_is_known_by_its_ids_of_before() -> None:
    *_, last = folded(late(0), stuck(1), over(STATUS_CHANGED, 2), stuck(3, turn=2))
    assert last.ids == ["freshness-1", "status-2", "status-1"]
    assert last.did == "began"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("closed_at", OPENED_AT),
        ("status", "OK"),
        ("conditions", []),
        ("opened_at", 10**30),
        ("opened_at", -1),
        ("by", RETENTION_CHANGED),
        ("revision", 0),
    ],
)
def test_what_contradicts_itself_is_refused(field: str, value: object) -> None:
    event = fold(None, stuck(0))
    assert event is not None
    body = json.loads(event.to_bytes())
    body["data"][field] = value
    with pytest.raises(ContractViolation):
        GroupIncidentEvent.from_bytes(json.dumps(body).encode())


@pytest.mark.parametrize(
    "poison", [("time", "0001-01-01T00:00:00"), ("time", "soon"), ("value", 1e999)]
)
def test_a_status_change_that_nobody_can_fold_is_none(poison: tuple[str, object]) -> None:
    body = json.loads(losing(0, 64).to_bytes())
    name, value = poison
    (body if name == "time" else body["data"]["objectives"][0])[name] = value
    with pytest.raises(ContractViolation):
        StatusChangeEvent.from_bytes(json.dumps(body).encode())


def test_a_group_that_is_gone_ends_it_with_the_reason() -> None:
    gone = condition_change(STATUS_CHANGED, "NOTFOUND", 2, reason="group_deleted")
    *_, last = folded(stuck(0, total_lag=90), gone)
    assert (last.status, last.reason, last.worst) == ("NOTFOUND", "group_deleted", "ERR")
    assert last.max_total_lag == 90


def test_one_that_is_too_large_goes_without_its_partitions() -> None:
    bad = BadPartition(
        topic="t" * 249,
        partition=1,
        status="STOP",
        lag=1,
        committed=1,
        log_end=2,
        committed_at=1,
        explanation="x" * 6_000,
    )
    (found,) = folded(stuck(0, partitions=[bad] * 100))
    assert found.conditions[0].change.partitions_omitted == 100
    assert len(found.model_dump_json()) < LARGEST
