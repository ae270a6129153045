from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from support.manual_clock import ManualClock
from warren.contracts import GroupMember
from warren_collector.groups.live.group import LiveGroup, LiveState
from warren_collector.groups.live.groups import LiveReader

INTERVAL = 30.0
SHARDS = frozenset({0})


def group(name: str, *members: GroupMember, state: str = "Stable", epoch: int = -1) -> LiveGroup:
    return LiveGroup(name, "classic", state=state, generation=epoch, members=members)


def member(name: str, *partitions: int) -> GroupMember:
    assignment = {"t": list(partitions)}
    return GroupMember(
        member_id=name, client_id="c", host="h", assignment=assignment, subscription=["t"]
    )


class FakeDescriber:
    """`groups` are as they are described; listed they have no members."""

    def __init__(self, *groups: LiveGroup) -> None:
        self.groups = {one.name: one for one in groups}
        self.is_complete = True
        self.silent: set[str] = set()
        self.described: list[str] = []

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        listed = {n: replace(g, members=None, generation=-1) for n, g in self.groups.items()}
        return listed, self.is_complete

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        names = [one.name for one in groups if one.name not in self.silent]
        self.described += names
        return [self.groups[name] for name in names]

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        return dict.fromkeys(topics, 3)

    def close(self) -> None:
        self.described.append("closed")


class Fixture:
    def __init__(self, *groups: LiveGroup) -> None:
        self.clock = ManualClock(1_000_000)
        self.describer = FakeDescriber(*groups)
        self.reader = LiveReader(self.describer, INTERVAL, self.clock)

    def read(self, after: float = 1.0) -> LiveState:
        self.clock.advance(after)
        self.describer.described.clear()
        return self.reader.read(SHARDS, lambda name: not name.startswith("foreign"))

    def changed(self, one: LiveGroup) -> LiveGroup:
        """As the next look has it."""
        self.describer.groups[one.name] = one
        return self.read(INTERVAL).groups[one.name]


def test_a_group_that_is_listed_otherwise_is_described_at_once() -> None:
    at = Fixture(group("a"), group("b"))
    at.read()
    at.describer.groups["b"] = group("b", state="PreparingRebalance")
    assert at.read().groups["b"].state == "PreparingRebalance"
    assert at.describer.described == ["b"]


def test_a_group_that_nobody_answers_for_stays_as_it_was_and_is_asked_for_again() -> None:
    at = Fixture(group("a", member("m", 0)))
    at.read()
    at.describer.silent.add("a")
    at.describer.groups["a"] = group("a", state="Empty")
    assert at.read().groups["a"].state == "Stable"
    at.describer.silent.clear()
    assert at.read().groups["a"].state == "Empty"


def test_a_group_is_gone_after_two_complete_lists_without_it() -> None:
    at = Fixture(group("a"))
    at.read()
    gone = at.describer.groups.pop("a")
    at.describer.is_complete = False
    at.read()
    at.read()
    at.describer.is_complete = True
    assert "a" in at.read().groups
    at.describer.groups["a"] = gone
    at.read()
    del at.describer.groups["a"]
    assert "a" in at.read().groups
    assert "a" not in at.read().groups


def test_another_epoch_is_a_rebalance() -> None:
    at = Fixture(group("a", member("m", 0), epoch=4))
    assert at.read().groups["a"].rebalances == 0
    same = at.changed(group("a", member("m", 0, 1), epoch=4))
    assert (same.rebalances, same.last_rebalance_at) == (0, None)
    other = at.changed(group("a", member("m", 0, 1), epoch=6))
    assert (other.rebalances, other.last_rebalance_at) == (1, at.clock.now_ms())


def test_without_epochs_another_assignment_is_a_rebalance() -> None:
    at = Fixture(group("a", member("m", 0, 1)))
    at.read()
    assert at.changed(group("a", member("m", 0), member("n", 1))).rebalances == 1
    assert at.changed(group("a", member("n", 1), member("m", 0))).rebalances == 1
    assert at.changed(group("a", state="Empty")).rebalances == 1
    back = at.changed(group("a", member("o", 0, 1)))
    assert (back.rebalances, back.last_rebalance_at) == (2, at.clock.now_ms())
