"""A channel, its kind, and what an attempt on it may come to.

A `detail` may hold what the receiver said, as it said it: it is made fit to be shown where it is
recorded (`warren_notifier.delivery.outcomes`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, get_args

from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.errors import WarrenError
from warren.settings.channels import ChannelSettings

from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.state.telling import Delivery


@dataclass(frozen=True, slots=True)
class Delivered:
    """The receiver took it. `receipt`: what the channel needs to speak of the same incident again,
    to be had back with its next deliveries; None where it stays as it was.
    """

    detail: str
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """It did not work, but may later. `retry_after`: seconds that the receiver asks for.

    `uncertain`: the receiver may have taken it all the same. `hung`: it took all the time that
    there was.
    """

    detail: str
    retry_after: float | None = None
    uncertain: bool = False
    hung: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """It will never work. `of_message`: as this message; another one may be taken."""

    detail: str
    of_message: bool = field(default=False, compare=False)


Result = Delivered | Retry | Refused


class ChannelUnusable(WarrenError):
    """A channel's settings cannot be used.

    Operator: correct `setting`, of the channel's table; the text says what is wrong.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}")
        self.setting = setting
        self.problem = problem


class Channel(ABC):
    """A way to reach people or machines; subclasses say what theirs is like."""

    identity: ChannelIdentity
    timeout: float
    concurrency: int
    tells_people = False
    """It is for people, who are told one story of a group; others hear of each condition."""
    tells_many = False
    """It can tell several incidents in one message."""
    takes_acknowledgements = False
    """Its receiver knows that somebody looks after an incident, and can be told so."""

    @property
    def resend_ms(self) -> int:
        """An open incident is sent again after so long, as its receiver takes for over what it
        has not heard of for a while; 0: it does not.
        """
        return 0

    @abstractmethod
    async def send(self, delivery: Delivery) -> Result:
        """One attempt. What goes wrong on the way is a result, not an exception."""

    async def send_many(self, digest: Digest) -> Result:
        """One attempt, likewise; only channels that tell many have it."""
        raise NotImplementedError

    async def close(self) -> None:  # noqa: B027  # most have none to free
        """Frees connections."""


S = TypeVar("S", bound=ChannelSettings)


@dataclass(frozen=True, slots=True)
class Kind(Generic[S]):
    """`channel` makes one of settings, `link_base`, the egress guard and the clock."""

    settings: type[S]
    channel: Callable[[S, str, EgressGuard, Clock], Channel]

    @property
    def type(self) -> str:
        """As the settings name it."""
        (name,) = get_args(self.settings.model_fields["type"].annotation)
        return str(name)
