"""The table's value: what goes in comes out; damaged bytes are a typed error."""

import numpy as np
import pytest
from cramjam import lz4
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from support.offset_events import NOW, At, Judge, commits, offset_event
from warren.contracts.status import Status
from warren.settings import PolicyName
from warren_core.evaluation import (
    NARROW,
    Began,
    Column,
    CommitEvidence,
    Figure,
    Mark,
    Onset,
    Rest,
    Rules,
    Track,
    Windows,
)
from warren_core.judgement.columns import Latest, Layout, Reported
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.state_codec import (
    CorruptState,
    decode,
    encode,
    encode_layout,
    is_gone,
    peek_status,
    remains,
)

STATUS_AT = 2 + 17  # version and kind, then what was applied
COLUMNS_AT = STATUS_AT + 19  # but for the layout

int64 = st.integers(-(2**63), 2**63 - 1)
mixed = st.integers(-5, 5) | st.integers(NOW, NOW + 10**6) | int64
applied = st.builds(
    Applied, st.sampled_from(["offsets_topic", "admin_api", "zookeeper"]), int64, int64, int64
)
layouts = st.dictionaries(
    st.text(max_size=5), st.lists(st.integers(0, 2**31 - 1), unique=True, max_size=4), max_size=3
).map(Layout)

forgotten = st.dictionaries(
    st.text(max_size=5), st.frozensets(st.integers(0, 2**31 - 1), min_size=1, max_size=3)
)


commit_evidence = st.dictionaries(
    st.text(max_size=5),
    st.just(CommitEvidence(has_reached_end=True))
    | st.builds(
        CommitEvidence,
        st.frozensets(st.builds(Rest, st.integers(0, 9), st.integers(1, 2**62)), max_size=2),
    ),
)


@st.composite
def group_states(draw: st.DrawFn) -> GroupState:
    layout = draw(layouts)
    partitions, intervals = len(layout), draw(st.integers(1, 5))

    def integers(*shape: int) -> st.SearchStrategy[np.ndarray]:
        return arrays.arrays(np.int64, shape, elements=mixed)

    return GroupState(
        applied=draw(applied),
        status=draw(st.sampled_from([Status.NOTFOUND, Status.OK, Status.WARN, Status.ERR])),
        opened_at=draw(st.none() | st.integers(0, 2**62)),
        layout=layout,
        latest=draw(integers(len(Latest), partitions)),
        windows=Windows(
            columns=draw(integers(len(Column), partitions, intervals)),
            filled=draw(arrays.arrays(np.int64, partitions, elements=st.integers(0, intervals))),
            log_ends=draw(integers(partitions, intervals)),
            log_ends_at=draw(integers(partitions)),
        ),
        forgotten=draw(forgotten),
        track=draw(st.none() | tracks(partitions)),
        commits=draw(commit_evidence),
        onset=draw(st.none() | integers(len(Began), partitions).map(Onset)),
        openings=tuple(draw(st.lists(int64, max_size=3))),
        reported=draw(st.none() | integers(len(Reported), partitions)),
    )


def tracks(partitions: int) -> st.SearchStrategy[Track]:
    numbers = st.floats(allow_nan=False, width=32)

    def track(marks: np.ndarray, figures: np.ndarray) -> Track:
        marks[list(NARROW)] = marks[list(NARROW)].astype(np.int32)
        return Track(marks, figures)

    return st.builds(
        track,
        arrays.arrays(np.int64, (len(Mark), partitions), elements=mixed),
        arrays.arrays(np.float32, (len(Figure), partitions), elements=numbers),
    )


def assert_same(one: GroupState, other: object) -> None:
    assert isinstance(other, GroupState)
    assert (one.applied, one.status, one.opened_at) == (
        other.applied,
        other.status,
        other.opened_at,
    )
    assert one.layout.topics == other.layout.topics
    assert one.forgotten == other.forgotten
    assert one.commits == other.commits
    np.testing.assert_array_equal(one.latest, other.latest)
    np.testing.assert_array_equal(one.windows.columns, other.windows.columns)
    np.testing.assert_array_equal(one.windows.filled, other.windows.filled)
    np.testing.assert_array_equal(one.windows.log_ends, other.windows.log_ends)
    np.testing.assert_array_equal(one.windows.log_ends_at, other.windows.log_ends_at)
    assert (one.track is None) == (other.track is None)
    assert one.applied.source_offset == other.applied.source_offset
    assert one.openings == other.openings
    assert (one.onset is None) == (other.onset is None)
    if one.onset is not None and other.onset is not None:
        np.testing.assert_array_equal(one.onset.marks, other.onset.marks)
    assert (one.reported is None) == (other.reported is None)
    if one.reported is not None and other.reported is not None:
        np.testing.assert_array_equal(one.reported, other.reported)
    if one.track is not None and other.track is not None:
        np.testing.assert_array_equal(one.track.marks, other.track.marks)
        np.testing.assert_array_equal(one.track.figures, other.track.figures)


@given(group_states())
def test_a_group_comes_back_as_it_was(state: GroupState) -> None:
    value = encode(state)
    assert_same(state, decode(value))
    assert peek_status(value) is state.status
    assert not is_gone(value)


@given(applied)
def test_a_group_that_is_gone_comes_back_as_it_was(by: Applied) -> None:
    state = GroupGone(by)
    value = encode(state)
    again = decode(value)
    assert again == state
    assert again.applied.source_offset == by.source_offset
    assert peek_status(value) is Status.NOTFOUND
    assert is_gone(value)


@given(group_states(), st.data())
def test_truncated_bytes_are_a_typed_error(state: GroupState, data: st.DataObject) -> None:
    value = encode(state)
    end = data.draw(st.integers(0, len(value) - 1))
    with pytest.raises(CorruptState):
        decode(value[:end])


@given(group_states(), st.data())
def test_damaged_bytes_give_a_state_or_a_typed_error(
    state: GroupState, data: st.DataObject
) -> None:
    value = bytearray(encode(state))
    for position in data.draw(st.lists(st.integers(0, len(value) - 1), max_size=4)):
        value[position] = data.draw(st.integers(0, 255))
    assert peek_status(bytes(value)) in Status
    try:
        decode(bytes(value))
    except CorruptState:
        return


@given(st.binary(max_size=200))
def test_any_bytes_give_a_state_or_a_typed_error(value: bytes) -> None:
    assert peek_status(value) in Status
    remains(value)
    try:
        decode(value)
    except CorruptState:
        return


@pytest.mark.parametrize("status", [Status.STALL, 99])
def test_what_is_no_status_of_a_group_is_an_error_for_it_alone(status: int) -> None:
    value = bytearray(encode(GroupState.new(Applied("admin_api", -1, 5))))
    value[STATUS_AT] = status
    assert peek_status(bytes(value)) is Status.NOTFOUND
    assert remains(bytes(value)) is None
    with pytest.raises(CorruptState):
        decode(bytes(value))


def test_another_version_is_refused() -> None:
    value = encode(GroupGone(Applied("admin_api", -1, 5, 7)))
    with pytest.raises(CorruptState, match="version 9"):
        decode(b"\x09" + value[1:])
    with pytest.raises(CorruptState, match="announced"):
        decode(encode(GroupState.new(Applied("admin_api", -1, 5)))[: COLUMNS_AT + 2] + b"\xff" * 4)


def decompressed(state: GroupState) -> bytes:
    """What the compressed part stands for."""
    value = encode(state)
    at = COLUMNS_AT + len(encode_layout(state))
    return value[:at] + bytes(lz4.decompress_block(value[at:]))


def test_what_a_newer_release_adds_is_ignored() -> None:
    group = Judge()
    group.all(commits(5, 6, 7))
    assert isinstance(group.state, GroupState)
    value, at = encode(group.state), COLUMNS_AT + len(encode_layout(group.state))
    grown = decompressed(group.state)[at:] + b"new"
    assert encode(decode(value[:at] + bytes(lz4.compress_block(grown)))) == value


@pytest.mark.parametrize(("policy", "most"), [("burrow", 150), ("progress", 230)])
def test_a_partition_takes_few_bytes(policy: PolicyName, most: int) -> None:
    """Less than 300 and 600, as they are when they are looked at."""
    random, group = np.random.default_rng(1), Judge(Rules(policy=policy))
    offset = np.full(100, 10**9)
    for i in range(30):
        offset += random.integers(0, 1000, 100)
        at = {
            p: At(o, NOW + i * 60_000 - d, o + lag)
            for p, (o, d, lag) in enumerate(
                zip(offset.tolist(), *random.integers(0, 5000, (2, 100)).tolist(), strict=True)
            )
        }
        group.judged(offset_event(NOW + i * 60_000, {"orders": at}))
    assert isinstance(group.state, GroupState)
    assert len(encode(group.state)) < most * 100
    assert len(decompressed(group.state)) > 290 * 100


@pytest.mark.parametrize("policy", ["burrow", "progress"])
def test_judging_goes_on_from_stored_bytes_as_from_memory(policy: PolicyName) -> None:
    events = commits(5, 6, 3, 0, 9, 9, 2, 4, 4, 5, 6, 7, 1)
    straight, stored = Judge(Rules(policy=policy)), Judge(Rules(policy=policy))
    for event in events:
        expected = straight.judged(event)
        assert stored.judged(event).lag == expected.lag
        assert stored.state is not None
        stored.state = decode(encode(stored.state))
