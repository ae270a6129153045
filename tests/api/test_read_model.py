from datetime import UTC, datetime

import pytest
from api.served_api import NOW, freshness_event, lag_event, late
from warren.contracts import GroupEvent, StatusChange, StatusChangeEvent, group_key, part_key
from warren.errors import ContractViolation
from warren_api.model.read_model import ReadModel, ReadModelSize
from warren_core.judgement.lag_parts import split

KEY = group_key("demo", "billing")


@pytest.fixture
def model() -> ReadModel:
    return ReadModel()


def change(status: str, at: int) -> bytes:
    data = StatusChange.model_validate(
        {
            "cluster": "demo",
            "group": "billing",
            "status": status,
            "previous": "OK",
            "incident_id": "i",
            "opened_at": at,
            "total_lag": 1,
            "max_lag": None,
            "partition_counts": {},
            "partitions": [],
        }
    )
    time = datetime.fromtimestamp(at / 1000, UTC)
    event = StatusChangeEvent(
        id=f"{status}{at}", source="/warren/clusters/demo", subject="billing", time=time, data=data
    )
    return event.to_bytes()


def test_what_the_evaluator_refuses_for_its_time_is_not_shown() -> None:
    model, ahead = ReadModel(now_ms=lambda: NOW), NOW + 60_001
    measured = freshness_event("billing", rows=[late(7)], measured_at=ahead)
    gone = GroupEvent(
        cluster="demo", group="billing", observed_at=ahead, position=4, protocol="classic"
    )
    for apply, event in ((model.apply_freshness, measured), (model.apply_members, gone)):
        with pytest.raises(ContractViolation, match="1m ahead"):
            apply(KEY, event.to_bytes())


def test_the_newest_event_counts(model: ReadModel) -> None:
    model.apply(KEY, lag_event("billing", total_lag=1).to_bytes())
    model.apply(KEY, lag_event("billing", total_lag=2).to_bytes())
    view = model.group("demo", "billing")
    assert view is not None
    assert view.event.total_lag == 2
    assert model.size() == ReadModelSize(groups=1, partitions=2)


def parts(at: int, count: int = 2) -> list[tuple[bytes, bytes]]:
    """Keys and values of an evaluation in parts."""
    event = lag_event("billing").model_copy(update={"evaluated_at": at})
    return [(part_key(KEY, part.part), part.to_bytes()) for part in split(event, count)]


def test_a_group_in_parts_is_shown_when_all_are_there(model: ReadModel) -> None:
    first, second = parts(NOW)
    model.apply(*second)
    assert model.groups() == ()
    model.apply(*first)
    view = model.group("demo", "billing")
    assert view is not None
    assert view.event == lag_event("billing").model_copy(update={"evaluated_at": NOW})
    newer_first, newer_second = parts(NOW + 5000)
    model.apply(*newer_first)
    model.apply(*second)  # what compaction left of an older one
    view = model.group("demo", "billing")
    assert view is not None
    assert view.event.evaluated_at == NOW
    model.apply(*newer_second)
    view = model.group("demo", "billing")
    assert view is not None
    assert view.event.evaluated_at == NOW + 5000
    assert model.size() == ReadModelSize(groups=1, partitions=2)


def test_parts_of_a_group_that_is_gone_are_not_shown(model: ReadModel) -> None:
    first, second = parts(NOW)
    model.apply(*first)
    model.apply(KEY, None)
    model.apply(*second)
    assert model.groups() == ()


def test_a_group_that_is_small_again_is_shown_whole(model: ReadModel) -> None:
    _, second = parts(NOW)
    model.apply(KEY, lag_event("billing", total_lag=3).to_bytes())
    model.apply(*second)
    view = model.group("demo", "billing")
    assert view is not None
    assert view.event.total_lag == 3


def test_a_tombstone_removes_the_group_and_what_was_known_of_it(model: ReadModel) -> None:
    model.apply_status_change(KEY, change("OK", 1_000))
    model.apply(KEY, lag_event("billing").to_bytes())
    model.apply(KEY, None)
    assert model.group("demo", "billing") is None
    assert model.groups() == ()
    model.apply(KEY, lag_event("billing").to_bytes())
    assert model.groups()[0].since is None


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'{"v":2}', b"\xff\xfe"])
def test_a_malformed_value_is_refused_and_the_last_good_one_kept(
    model: ReadModel, value: bytes
) -> None:
    model.apply(KEY, lag_event("billing").to_bytes())
    with pytest.raises(ContractViolation):
        model.apply(KEY, value)
    assert model.group("demo", "billing") is not None


@pytest.mark.parametrize("key", [None, b"", b"no-separator", b"\xff|x", b"demo|other"])
def test_a_key_that_names_no_group_or_another_is_refused(
    model: ReadModel, key: bytes | None
) -> None:
    with pytest.raises(ContractViolation):
        model.apply(key, lag_event("billing").to_bytes())
    assert model.groups() == ()


@pytest.mark.parametrize("change_first", [True, False])
def test_since_comes_from_status_changes_in_whatever_order_the_topics_are_read(
    model: ReadModel, change_first: bool
) -> None:
    steps = [
        lambda: model.apply_status_change(KEY, change("OK", 7_000)),
        lambda: model.apply(KEY, lag_event("billing").to_bytes()),
    ]
    for step in steps if change_first else reversed(steps):
        step()
    assert model.groups()[0].since == 7_000


def test_a_closed_and_deleted_group_leaves_no_status_change(model: ReadModel) -> None:
    model.apply_status_change(KEY, change("OK", 1_000))
    model.apply_status_change(KEY, change("NOTFOUND", 2_000))
    model.apply(KEY, lag_event("billing").to_bytes())
    assert model.groups()[0].since is None


def test_a_malformed_status_change_is_refused(model: ReadModel) -> None:
    with pytest.raises(ContractViolation):
        model.apply_status_change(KEY, b"{}")


def measurement(freshness_ms: int, measured_at: int = NOW) -> bytes:
    return freshness_event("billing", rows=[late(freshness_ms)], measured_at=measured_at).to_bytes()


def shown(model: ReadModel) -> int | None:
    """Freshness of the only group."""
    (view,) = model.groups()
    return view.freshness.event.freshness_ms if view.freshness else None


@pytest.mark.parametrize("freshness_first", [True, False])
def test_freshness_is_beside_the_evaluation_in_whatever_order_they_come(
    model: ReadModel, freshness_first: bool
) -> None:
    steps = [
        lambda: model.apply_freshness(KEY, measurement(7)),
        lambda: model.apply(KEY, lag_event("billing").to_bytes()),
    ]
    for step in steps if freshness_first else reversed(steps):
        step()
    assert shown(model) == 7
    model.apply(KEY, lag_event("billing", total_lag=2).to_bytes())
    assert shown(model) == 7
    model.apply_status_change(KEY, change("OK", 1_000))
    assert (shown(model), model.groups()[0].since) == (7, 1_000)


def test_the_newest_measurement_counts_and_the_interval_is_learnt(model: ReadModel) -> None:
    model.apply(KEY, lag_event("billing").to_bytes())
    for number in range(3):
        model.apply_freshness(KEY, measurement(number, NOW + number * 25_000))
    assert shown(model) == 2
    freshness = model.groups()[0].freshness
    assert freshness is not None
    assert freshness.gaps == (25_000, 25_000)


def test_a_tombstone_of_freshness_removes_only_that(model: ReadModel) -> None:
    model.apply(KEY, lag_event("billing").to_bytes())
    model.apply_freshness(KEY, measurement(7))
    model.apply_freshness(KEY, None)
    assert shown(model) is None
    model.apply_freshness(KEY, None)
    assert shown(model) is None


def test_freshness_that_a_complete_reading_did_not_show_is_dropped(model: ReadModel) -> None:
    model.apply(KEY, lag_event("billing").to_bytes())
    model.apply_freshness(KEY, measurement(7))
    model.keep_only(judged={("demo", "billing")}, measured={("demo", "billing")})
    assert shown(model) == 7
    model.keep_only(judged={("demo", "billing")}, measured=())
    assert shown(model) is None
