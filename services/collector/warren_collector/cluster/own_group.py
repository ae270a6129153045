"""Looks who else is in the collectors' own group on a monitored cluster."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import structlog
from warren.clock import Clock
from warren.errors import ForeignMembers, KafkaError
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.groups import ClassicMember, describe_group

log = structlog.get_logger(__name__)

EVERY = 10.0  # seconds
ANSWERS = 6  # in a row: one that comes and goes is away
MISSES = 2  # in a row: a coordinator that moves is away for a moment
SETTING = "home.instance"

Members = Sequence[ClassicMember]
Describe = Callable[[str], Future[Members]]


class OwnGroup:
    """Kafka shares the offsets topic out among all members: another Warren's collector that joins
    takes partitions, and the groups in them freeze here.
    """

    def __init__(
        self,
        cluster: str,
        group: str,
        is_own: Callable[[str], bool],
        describe: Describe,
        clock: Clock,
        *,
        is_away: bool | None = None,
    ) -> None:
        """`is_own` says whether a member of that `client.id` is of this Warren. `is_away`: what was
        known before.
        """
        self.problem: ForeignMembers | None = None
        """While there are members of another Warren."""
        self.foreign: list[str] = []
        """Which they are, by client and host."""
        self.is_away = is_away
        """Whether the group's coordinator is out of reach, while other brokers answer; None before
        anybody knows.
        """
        self._misses = self._answers = 0
        self._cluster = cluster
        self._group = group
        self._is_own = is_own
        self._describe = describe
        self._clock = clock
        self._requested: Future[Members] | None = None
        self._due = clock.monotonic()

    def look(self) -> None:
        """Asks every 10 s, and takes the answer once it is there; never waits."""
        if self._requested is not None and self._requested.done():
            answer, self._requested = self._requested, None
            self._take(answer)
        if self._requested is None and self._clock.monotonic() >= self._due:
            self._due = self._clock.monotonic() + EVERY
            self._requested = self._describe(self._group)

    def _take(self, answer: Future[Members]) -> None:
        try:
            members = answer.result()
        except KafkaError:
            return  # not known: what was found last stands
        except UNANSWERED:
            self._misses, self._answers = self._misses + 1, 0
            self.is_away = self._misses >= MISSES or self.is_away
            return
        self._misses = 0
        self._answers += 1
        self.is_away = self._answers < ANSWERS if self.is_away else False
        foreign = [m for m in members if not self._is_own(m.client_id)]
        before, self.foreign = self.foreign, sorted(f"{m.client_id} at {m.host}" for m in foreign)
        if self.foreign == before:
            return
        fields = {"cluster": self._cluster, "group": self._group, "setting": SETTING}
        if not self.foreign:
            self.problem = None
            log.info("no other Warren is in our consumer group any more", **fields)
            return
        log.warning("another Warren is in our consumer group", members=self.foreign, **fields)
        self.problem = ForeignMembers(
            self._cluster,
            SETTING,
            f"collectors of another Warren are in our group {self._group} "
            f"({', '.join(self.foreign)}): groups whose offsets they read are missing here; give "
            "each Warren an instance name, or a collector.group_id, of its own",
        )


class OwnGroupDescriber:
    """Asks a cluster, in a thread of its own. READ on the group, which its members need anyway, is
    enough.
    """

    def __init__(self, brokers: Brokers) -> None:
        """The brokers are this object's from now on."""
        self._brokers = brokers
        self._runner = asyncio.Runner()
        self._thread = ThreadPoolExecutor(1, "own group")

    def __call__(self, group: str) -> Future[Members]:
        return self._thread.submit(
            lambda: self._runner.run(describe_group(self._brokers, group)).members
        )

    def close(self) -> None:
        """Waits for an answer that is still to come."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()
