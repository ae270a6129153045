"""Families: which names are generated, and what is told of groups that were left behind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.group_bench import GroupBench, classic, commit
from warren.contracts.group_event import FIRST_OF_FAMILY
from warren_collector.groups.families import Families, family


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("adhoc_4611686018427387904", "adhoc_*"),
        ("console-consumer-40187", "console-consumer-*"),
        ("preview-3f2a9c1e-77aa-4b1c-9d0e-1234567890ab", "preview-*"),
        ("etl-7d9f8b6c5d-x2x4z", "etl-*-*"),
        ("shop-a8Kd92LsQ0", "shop-*"),
        ("billing", None),
        ("orders-eu-west-1", None),
        ("deadbeef", None),
    ],
)
def test_what_is_generated_of_a_name(name: str, alike: str | None) -> None:
    assert family(name) == alike


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 3)), max_size=40))
def test_each_is_told_how_many_were_left_before_it(looks: list[tuple[int, int | None]]) -> None:
    families, left = Families(), dict[int, int]()
    for number, left_at in looks:
        left.pop(number, None)
        if left_at is not None:
            left[number] = left_at
        told = families.follow((0, f"q-{number}000"), left_at)
        order = sorted(left, key=lambda each: (left[each], each))
        if left_at is None:
            assert told is None
            continue
        at = order.index(number)
        assert told == (at, len(order) - 1 - at if at < FIRST_OF_FAMILY else 0)
        first = {(0, f"q-{each}000") for each in order[:FIRST_OF_FAMILY]}
        assert families.take_changed() <= first | {(0, f"q-{each}000") for each in range(10)}


def test_those_that_are_left_are_counted(at: GroupBench) -> None:
    newest: dict[str, tuple[int | None, int | None]] = {}

    def look() -> None:
        events = {name: event for name, event in at.look().items() if event is not None}
        newest.update({n: (each.left_before, each.left_after) for n, each in events.items()})

    for number in range(5):
        name = f"q-{number}000"
        at.fold(classic(name, 1, "m"), commit(name), classic(name, 2))
        look()
    look()
    assert list(newest.values()) == [(0, 4), (1, 3), (2, 2), (3, 0), (4, 0)]
    at.fold(classic("q-1000", 3, "m"), classic("billing", 2), commit("billing"))
    look()
    look()
    assert newest["q-0000"] == (0, 3)
    assert newest["q-1000"] == newest["billing"] == (None, None)
