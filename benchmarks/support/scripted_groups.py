"""Groups whose trouble follows a script, as a collector sees them: what is wrong is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from warren.contracts import (
    FreshnessEvent,
    GroupEvent,
    GroupMember,
    OffsetEvent,
    OpenTransaction,
    TopicFreshness,
    TopicPositions,
)

START_MS = 1_795_244_400_000
TICK_S, HEARTBEAT_S, FRESHNESS_S = 5, 10, 10
TROUBLE_S = 150
SESSION_S = 45


@dataclass
class World:
    """One topic, one group. Times in seconds since the start; rates in records per second."""

    chance: random.Random
    members: int = field(init=False)
    partitions: int = field(init=False)
    rate: float = field(init=False)  # produced, of each partition
    capacity: float = field(init=False)  # that can be consumed, of each partition
    commit_every: int = field(init=False)
    present: set[int] = field(init=False)  # members that the coordinator knows
    working: set[int] = field(init=False)
    stuck: dict[int, int] = field(default_factory=dict)  # partition: offset
    unowned: set[int] = field(default_factory=set)
    rebalances: int = 1
    rebalanced_at: int = 0
    managed: bool = True
    hot: int | None = None  # a partition with eight times the rate
    handed_over: dict[int, int] = field(default_factory=dict)  # member: who has its partitions
    brokers: int = field(init=False)
    slow_broker: int | None = None  # fetches from it bring nothing
    transactions: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Open ones: where they begin, and the second, by partition. Committed records are read."""

    def __post_init__(self) -> None:
        pick = self.chance
        self.members = pick.randint(2, 4)
        self.partitions = self.members * pick.randint(2, 4)
        self.rate = pick.choice([2.0, 11.0, 40.0, 170.0])
        self.capacity = self.rate * pick.uniform(1.5, 4)
        self.commit_every = pick.choice([1, 2, 5])
        self.brokers = pick.choice([1, 2, 3])
        self.resize()

    def resize(self) -> None:
        """For the members and partitions that there are."""
        self.present = set(range(self.members))
        self.working = set(self.present)
        self.log_start = [0] * self.partitions
        self.log_end = [0.0] * self.partitions
        self.position = [0.0] * self.partitions
        self.committed = [0] * self.partitions
        self.committed_at = [0] * self.partitions
        self.commits = [0] * self.partitions

    def owner(self, partition: int) -> int | None:
        member = partition % self.members
        return None if partition in self.unowned else self.handed_over.get(member, member)

    def owned(self, member: int) -> list[int]:
        return [p for p in range(self.partitions) if self.owner(p) == member]

    def leader(self, partition: int) -> int:
        """Not by turns, as the members are."""
        return 100 + (partition // self.members) % self.brokers

    def open_transaction(self, partition: int, at: int) -> None:
        self.transactions[partition] = int(self.log_end[partition]), at

    def rebalance(self, at: int) -> None:
        self.rebalances += 1
        self.rebalanced_at = at

    def pass_second(self, at: int) -> None:
        for p in range(self.partitions):
            rate = self.rate * (8 if p == self.hot else 1)
            self.log_end[p] += rate * self.chance.uniform(0.8, 1.2)
            owner = self.owner(p)
            if owner is None or owner not in self.working or owner not in self.present:
                continue
            if self.leader(p) == self.slow_broker:
                continue
            ahead = self.log_end[p] if p not in self.stuck else float(self.stuck[p])
            if p in self.transactions:
                ahead = min(ahead, self.transactions[p][0])
            self.position[p] = min(self.position[p] + self.capacity, max(ahead, 0))
            if at % self.commit_every == 0:
                self.committed[p], self.committed_at[p] = int(self.position[p]), at
                self.commits[p] += 1


Observed = OffsetEvent | GroupEvent | FreshnessEvent
Script = Callable[[World, int], None]
"""What happens in the second that begins now."""


def healthy(world: World, at: int) -> None:
    """Nothing."""


def all_leave(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.present.clear()
        world.rebalance(at)


def all_are_killed(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.working.clear()
    if at == TROUBLE_S + SESSION_S:
        world.present.clear()
        world.rebalance(at)


def all_hang(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.working.clear()


def one_hangs(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.working.discard(0)


def half_of_them_hang(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.working -= {0, 1}


def members_leave_one_by_one(world: World, at: int) -> None:
    gone = (at - TROUBLE_S) // 10
    if at >= TROUBLE_S and (at - TROUBLE_S) % 10 == 0 and gone in world.present:
        world.present.discard(gone)
        world.rebalance(at)
        if not world.present:
            return
        world.handed_over = {m: min(world.present) for m in range(world.members)}


def two_records_are_bad(world: World, at: int) -> None:
    """Of two members' partitions."""
    if at == TROUBLE_S:
        world.stuck = {p: int(world.position[p]) for p in (0, 1)}


def one_partition_is_hot(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.hot = 0
        world.capacity = world.rate * 2


def unmanaged_ones_stop(world: World, at: int) -> None:
    """Consumers that assign partitions by themselves: the coordinator knows nobody."""
    world.managed = False
    if at == TROUBLE_S:
        world.working.clear()


def members_are_replaced(world: World, at: int) -> None:
    """A rolling restart, each member away for 10 s, and then a member that hangs."""
    if TROUBLE_S <= at < TROUBLE_S + 20 * world.members and (at - TROUBLE_S) % 10 == 0:
        member, back = divmod((at - TROUBLE_S) // 10, 2)
        (world.present.add if back else world.present.discard)(member)
        world.rebalance(at)
    if at == TROUBLE_S + 500:
        world.working.discard(1)


def one_record_is_bad(world: World, at: int) -> None:
    if at == TROUBLE_S:
        partition = world.chance.randrange(world.partitions)
        world.stuck[partition] = int(world.position[partition])


def a_bad_record_is_deleted(world: World, at: int) -> None:
    """The group stands before it until retention is past it."""
    one_record_is_bad(world, at)
    if at >= TROUBLE_S + 30:
        world.log_start = [int(end - world.rate) for end in world.log_end]


def too_slow(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.capacity = world.rate * world.chance.uniform(0.15, 0.7)


def a_burst(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.capacity = world.rate * 1.6
        world.rate *= world.chance.uniform(4, 10)
    if at == TROUBLE_S + 70:
        world.rate /= 20


def rebalances_again_and_again(world: World, at: int) -> None:
    if at < TROUBLE_S:
        return
    phase = (at - TROUBLE_S) % 35
    if phase == 0:
        world.rebalance(at)
        world.working.clear()
    if phase == 30:
        world.working = set(world.present)


def some_are_unowned(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.unowned = {1, world.partitions - 1}
        world.rebalance(at)


def the_topic_is_made_anew(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.log_end = [0.0] * world.partitions
        world.rate /= 100
        world.working.clear()


def retention_passes(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.stuck = {p: int(world.position[p]) for p in range(world.partitions)}
    if at >= TROUBLE_S + 30:
        world.log_start = [int(end - world.rate) for end in world.log_end]


def offsets_are_reset(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.position = [end * 0.1 for end in world.log_end]
        world.capacity = world.rate * 1.3


def pauses_again_and_again(world: World, at: int) -> None:
    if at < TROUBLE_S:
        return
    phase = (at - TROUBLE_S) % 240
    if phase == 0:
        world.working.clear()
    if phase == 150:
        world.working = set(world.present)


def never_catches_up(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.working.clear()
    if at == TROUBLE_S + 60:
        world.working = set(world.present)
        world.capacity = world.rate


def a_broker_hangs(world: World, at: int) -> None:
    """One of two that lead eight partitions each."""
    if at == 0:
        world.brokers, world.members, world.partitions = 2, 4, 16
        world.resize()
    if at == TROUBLE_S:
        world.slow_broker = 101


def a_transaction_hangs(world: World, at: int) -> None:
    if at == TROUBLE_S:
        world.open_transaction(world.chance.randrange(world.partitions), at)


def transactions_hang_everywhere(world: World, at: int) -> None:
    if at == TROUBLE_S:
        for partition in range(world.partitions):
            world.open_transaction(partition, at)


# Cause, what happens, seconds until the cause can be told.
SCRIPTS: dict[str, tuple[str | None, Script, int]] = {
    "healthy": (None, healthy, 0),
    "half hang": ("unknown", half_of_them_hang, 30),
    "leave in turn": ("no_members", members_leave_one_by_one, 60),
    "two bad records": ("stuck_record", two_records_are_bad, 30),
    "a hot partition": ("too_slow", one_partition_is_hot, 120),
    "unmanaged": ("unknown", unmanaged_ones_stop, 30),
    "replaced, then hung": ("one_member", members_are_replaced, 530),
    "all leave": ("no_members", all_leave, 30),
    "all are killed": ("no_members", all_are_killed, SESSION_S + 30),
    "all hang": ("unknown", all_hang, 30),
    "one hangs": ("one_member", one_hangs, 30),
    "a bad record": ("stuck_record", one_record_is_bad, 30),
    "it is deleted": ("stuck_record", a_bad_record_is_deleted, 30),
    "too slow": ("too_slow", too_slow, 120),
    "a burst": ("producer_burst", a_burst, 0),
    "rebalances": ("rebalance_loop", rebalances_again_and_again, 120),
    "no owner": ("unowned_partitions", some_are_unowned, 30),
    "topic made anew": ("beyond_log_end", the_topic_is_made_anew, 30),
    "a broker hangs": ("one_broker", a_broker_hangs, 30),
    "a transaction hangs": ("hanging_transaction", a_transaction_hangs, 120),
    "they hang everywhere": ("hanging_transaction", transactions_hang_everywhere, 120),
    "retention passes": ("records_lost", retention_passes, 45),
    "offsets reset": ("replaying", offsets_are_reset, 0),
    "pauses": ("flapping", pauses_again_and_again, 600),
    "never catches up": ("late", never_catches_up, 120),
}


def observed(
    script: Script, seed: int, seconds: int
) -> Iterator[OffsetEvent | GroupEvent | FreshnessEvent]:
    """What a collector publishes about it, in order."""
    world = World(random.Random(seed))
    told: tuple[object, ...] = ()
    spoke_at = 0
    for at in range(seconds):
        script(world, at)
        world.pass_second(at)
        if at % TICK_S:
            continue
        now = START_MS + at * 1000
        seen = (frozenset(world.present), frozenset(world.unowned), world.rebalances)
        # Members are read from other records than commits: at times a tick later.
        if seen != told and world.chance.random() < 0.7:
            told = seen
            yield _group_event(world, now)
        if at % FRESHNESS_S == 0:
            yield _freshness_event(world, now)
        if any(world.commits) or at - spoke_at >= HEARTBEAT_S:
            spoke_at = at
            yield _offset_event(world, now, at)
            world.commits = [0] * world.partitions


def _offset_event(world: World, now: int, at: int) -> OffsetEvent:
    positions = TopicPositions(
        partition=list(range(world.partitions)),
        committed=list(world.committed),
        committed_at=[START_MS + second * 1000 for second in world.committed_at],
        commits=list(world.commits),
        log_start=list(world.log_start),
        log_end=[int(end) for end in world.log_end],
        leader=[world.leader(p) for p in range(world.partitions)],
    )
    return OffsetEvent(
        cluster="prod",
        group="scripted",
        source="offsets_topic",
        observed_at=now,
        position=at,
        topics={"orders": positions},
    )


def _freshness_event(world: World, now: int) -> FreshnessEvent:
    """As freshness measures it, of what causes follow from."""
    lags = [int(end) - at for end, at in zip(world.log_end, world.committed, strict=True)]
    lost = [max(s - at, 0) for s, at in zip(world.log_start, world.committed, strict=True)]
    held = [
        OpenTransaction(
            topic="orders",
            partition=p,
            first_offset=first,
            since=START_MS + since * 1000,
            transactional_id="payments-1",
            hanging=now - START_MS - since * 1000 > 900_000,
        )
        for p, (first, since) in world.transactions.items()
        if world.committed[p] >= first
    ]
    held_at = {each.partition for each in held}
    nothing: list[int | None] = [None] * world.partitions
    late = [round(1000 * max(lag, 0) / world.rate) for lag in lags]
    return FreshnessEvent(
        cluster="prod",
        group="scripted",
        measured_at=now,
        observed_at=now,
        freshness_ms=max(late),
        lost_records=sum(lost),
        time_to_loss_ms=None,
        open_transactions=held,
        topics={
            "orders": TopicFreshness(
                partition=list(range(world.partitions)),
                committed=list(world.committed),
                freshness_ms=list(late),
                reason=[
                    "caught_up" if lag <= 0 else "open_transaction" if p in held_at else "exact"
                    for p, lag in enumerate(lags)
                ],
                bound_ms=[0] * world.partitions,
                lost_records=lost,
                time_to_loss_ms=nothing,
                oldest_at=nothing,
                commit_lag_ms=nothing,
                append_lag_ms=nothing,
            )
        },
    )


def _group_event(world: World, now: int) -> GroupEvent:
    members = [
        GroupMember(
            member_id=f"member-{m}",
            client_id=f"client-{m}",
            host=f"10.0.0.{m}",
            assignment={"orders": world.owned(m)},
            subscription=["orders"],
        )
        for m in sorted(world.present if world.managed else ())
    ]
    unowned = sorted(world.unowned) if members else list(range(world.partitions))
    return GroupEvent(
        cluster="prod",
        group="scripted",
        observed_at=now,
        position=-1,
        protocol="classic",
        protocol_type="consumer" if world.managed else "",
        state="Stable" if members else "Empty",
        members=members,
        rebalances=world.rebalances,
        last_rebalance_at=START_MS + world.rebalanced_at * 1000,
        unowned={"orders": unowned} if unowned and members else {},
    )
