"""Attempts on one channel: what must be durable before, and what they led to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import structlog
from warren.contracts import GroupIncident, PendingDelivery
from warren.metrics.notifier import NOTIFIER_ATTEMPT_SECONDS
from warren_core.standing.standing import Standing

from warren_notifier.channels.channel import (
    Channel,
    Delivered,
    Refused,
    Result,
    Retry,
)
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.delivery.outcomes import Outcomes
from warren_notifier.delivery.slots import RateLimit, Slots
from warren_notifier.inputs import Attempted, Begun
from warren_notifier.owned import Line
from warren_notifier.state.telling import Delivery, Step

LATE_WAIT = 3_600  # seconds between attempts to deliver an end after its deadline
LONGEST_OWED = 86_400  # seconds that a receiver can put off an end


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Exponential backoff: `first` seconds, doubled up to `longest`, each shortened by jitter.

    A receiver can put an attempt off up to the deadline.

    What was opened must be closed: an end is not given up at the deadline, only tried less often.
    `jitter` gives numbers from 0 to 1; a wait is between half of the backoff and all of it.
    """

    first: float
    longest: float
    jitter: Callable[[], float]

    def after(
        self, pending: PendingDelivery, result: Result, now: int, backoff: float | None = None
    ) -> Step:
        """`pending` as it was before the attempt that ended at `now` with `result`. `backoff`:
        that of all who were told together.
        """
        counted = pending.model_copy(update={"attempts": pending.attempts + 1})
        if isinstance(result, Delivered):
            return Step(counted, "delivered", result.detail, result.receipt)
        if isinstance(result, Refused):
            return Step(counted, "refused", result.detail)
        soonest = self.backoff(counted.attempts) if backoff is None else backoff
        wait = max(soonest, result.retry_after or 0)
        owed = pending.kind == "resolved"
        if owed:
            wait = min(wait if now < pending.deadline_at else max(wait, LATE_WAIT), LONGEST_OWED)
        at = now + round(wait * 1000)
        if not owed and now + round(soonest * 1000) <= pending.deadline_at < at:
            at = pending.deadline_at  # put off beyond it: one more attempt
        if at > pending.deadline_at and not owed:
            return Step(counted, "given_up", f"{result.detail}; no attempt before the deadline")
        return Step(counted.model_copy(update={"next_attempt_at": at}), "failed", result.detail)

    def backoff(self, attempts: int) -> float:
        """Seconds to wait after so many failed attempts (at least one)."""
        doubled = min(self.first * 2.0 ** min(attempts - 1, 60), self.longest)
        return doubled * (1 + self.jitter()) / 2


log = structlog.get_logger(__name__)

T = TypeVar("T")
AsNow = Callable[[GroupIncident], Standing]
"""How a group stands by all that is known of it now, which people are told."""
UNFIT_IN_A_ROW = 16  # of 32,000 news in halves one is alone by then: more, and it is the receiver


@dataclass(frozen=True, slots=True)
class Shared:
    """What the channels of a notifier deliver with."""

    tasks: asyncio.TaskGroup
    plan: RetryPlan
    outcomes: Outcomes
    sleep: Callable[[float], Awaitable[None]]
    queue_size: int
    """Groups that a channel works on at most; others wait."""
    check_lease: Callable[[], None]
    """Raises when nothing may be sent any more."""
    limits: Mapping[str, RateLimit]
    as_now: AsNow
    known: Callable[[], Awaitable[None]]
    """Returns when that is known."""


class Attempts:
    """On one channel."""

    def __init__(self, name: str, channel: Channel, shared: Shared) -> None:
        self.name = name
        self.slots = Slots(channel.concurrency, shared.limits.get(name))
        self.shared = shared
        self._channel = channel
        self._plan, self._clock = shared.plan, shared.outcomes.clock
        self._unfit = 0
        """Messages that were refused as such, without one between them that was taken."""

    async def ready(self) -> None:
        """Returns when it is known how groups stand now, for who tells people that."""
        if self._channel.tells_people:
            await self.shared.known()

    async def alone(self, line: Line) -> Attempted | None:
        """One delivery in a message of its own; None when there is none any more."""
        prepared = await self.shared.outcomes.begin(line)
        if prepared is None:
            return None
        notified = await self._of_now(_delivery_now, prepared.delivery)
        self.shared.check_lease()
        result, milliseconds = await self._timed(self._channel.send(notified))
        step = self._plan.after(prepared.delivery.pending, result, self._clock.now_ms())
        return Attempted(prepared.delivery, step, milliseconds, _uncertain(prepared, result))

    async def together(self, digest: Digest, news: list[Begun]) -> list[Attempted]:
        """All news in one message: what it led to is the same for each. One that is
        refused as such is told in halves: what makes it unfit is refused alone in the end.
        """
        notified = await self._of_now(_digest_now, digest)
        self.shared.check_lease()
        result, milliseconds = await self._timed(self._channel.send_many(notified))
        backoff = self._plan.backoff(1 + max(one.delivery.pending.attempts for one in news))
        at_most = None
        is_unfit = isinstance(result, Refused) and result.of_message
        if is_unfit and self._unfit <= UNFIT_IN_A_ROW and len(news) > 1:
            result = Retry(f"{result.detail}; told in two parts")
            backoff = self._plan.backoff(1)
            at_most = len(news) // 2
        now = self._clock.now_ms()
        message = None if digest.alone is not None else digest.digest_id
        return [
            Attempted(
                replace(one.delivery, at_most=at_most or one.delivery.at_most),
                self._plan.after(one.delivery.pending, result, now, backoff),
                milliseconds,
                _uncertain(one, result),
                message,
                digest.thread_after,
            )
            for one in news
        ]

    async def _of_now(self, made: Callable[[T, AsNow], T], notified: T) -> T:
        """What people are told. Thousands of incidents take a while to read: not in the loop's
        thread.
        """
        if not self._channel.tells_people:
            return notified
        try:
            return await asyncio.to_thread(made, notified, self.shared.as_now)
        except Exception:  # a fault of ours keeps nobody from being told
            log.exception("told as it was published", channel=self.name)
            return notified

    async def _timed(self, sending: Awaitable[Result]) -> tuple[Result, int]:
        started = self._clock.monotonic()
        result = await self._judged(sending)
        self.slots.note(result)
        if isinstance(result, Delivered):
            self._unfit = 0
        elif isinstance(result, Refused) and result.of_message:
            self._unfit += 1
        seconds = self._clock.monotonic() - started
        NOTIFIER_ATTEMPT_SECONDS.labels(self.name).observe(seconds)
        return result, round(seconds * 1000)

    async def _judged(self, sending: Awaitable[Result]) -> Result:
        try:
            async with asyncio.timeout(self._channel.timeout):
                return await sending
        except TimeoutError:
            no_answer = f"no answer within {self._channel.timeout:g}s"
            return Retry(no_answer, uncertain=True, hung=True)
        except Exception as error:  # reaches log, audit and dead letter
            # A fault of ours with one delivery must not stop all the others.
            log.exception("attempt failed unexpectedly", channel=self.name)
            return Retry(f"{type(error).__name__}: {error}", uncertain=True)


def _delivery_now(delivery: Delivery, as_now: AsNow) -> Delivery:
    return replace(delivery, now=as_now(delivery.event.data)) if delivery.event else delivery


def _digest_now(digest: Digest, as_now: AsNow) -> Digest:
    return replace(
        digest,
        news=[_delivery_now(each, as_now) for each in digest.news],
        lasting=[as_now(each.data) for each in digest.lasting if each.data is not None],
    )


def _uncertain(prepared: Begun, result: Result) -> bool:
    return prepared.uncertain or (isinstance(result, Retry) and result.uncertain)
