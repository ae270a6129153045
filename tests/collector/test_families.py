"""Families: which names are generated, and what is told of groups that were left behind."""

import pytest
from support.group_bench import GroupBench, classic, commit
from warren_collector.groups.families import LIVED_MS, Families, family


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("adhoc_4611686018427387904", "adhoc_*"),
        ("console-consumer-40187", "console-consumer-*"),
        ("preview-3f2a9c1e-77aa-4b1c-9d0e-1234567890ab", "preview-*"),
        ("etl-7d9f8b6c5d-x2x4z", "etl-*-x2x4z"),
        ("shop-a8Kd92LsQ0", "shop-*"),
        ("prod-billing01", None),
        ("payments-sha256", None),
        ("billing", None),
        ("orders-eu-west-1", None),
        ("deadbeef", None),
    ],
)
def test_what_is_generated_of_a_name(name: str, alike: str | None) -> None:
    assert family(name) == alike


def test_who_was_there_before_or_for_an_hour_is_in_no_family() -> None:
    families = Families()
    places = [(0, f"q-{number}000") for number in range(4)]
    for at, place in enumerate(places[1:]):
        families.came(place, at)
    left = [families.follow(place, LIVED_MS + 1, is_left=True) for place in places]
    assert left == [None, None, None, (0, 0)]
    families.forget(places[3])
    assert families.follow(places[3], LIVED_MS, is_left=True) is None


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
