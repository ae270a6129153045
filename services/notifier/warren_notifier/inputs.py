"""What can happen to a subject, and what can follow: the inputs and effects of `decide`."""

from collections.abc import Collection
from dataclasses import dataclass

from warren_notifier.routing.change import Change
from warren_notifier.routing.routes import Route
from warren_notifier.state.telling import Delivery, Ended, Step


@dataclass(frozen=True, slots=True)
class Changed:
    """The group's status did, by an event at this offset."""

    change: Change
    offset: int


@dataclass(frozen=True, slots=True)
class TimePassed:
    """And whatever people asked for since: silences and acknowledgements are in the rules."""


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The subject's partition was assigned. `ended`: deliveries that restoring it has ended."""

    ended: Collection[Ended] = ()


@dataclass(frozen=True, slots=True)
class Tested:
    """Somebody tries out a route, by the opening of an incident that there is not."""

    opening: Change
    route: Route


@dataclass(frozen=True, slots=True)
class MayArrive:
    """A delivery is about to be sent: what is written from now on says that it may arrive."""

    delivery: Delivery


@dataclass(frozen=True, slots=True)
class NotSent:
    """It was not, for something newer came."""

    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Begun:
    """An attempt to send a delivery begins. `uncertain`: one before it may have arrived."""

    delivery: Delivery
    uncertain: bool


@dataclass(frozen=True, slots=True)
class Attempted:
    """A delivery came one step further, which is audited already.

    `uncertain`: whether the channel may have taken it without saying so; None after no attempt.
    `digest`, `thread`: of the message that told it with others.
    """

    delivery: Delivery
    step: Step
    milliseconds: int | None = None
    uncertain: bool | None = None
    digest: str | None = None
    thread: str | None = None


Input = Changed | TimePassed | TakenUp | Tested | MayArrive | NotSent | Begun | Attempted


@dataclass(frozen=True, slots=True)
class Tell:
    """Effect: send this as soon as the subject is written."""

    delivery: Delivery


@dataclass(frozen=True, slots=True)
class PutOff:
    """Effect: audit that this is put off."""

    delivery: Delivery
    why: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Effect: count the event: `routed`, `unrouted`, `withheld` or `replayed`."""

    result: str


@dataclass(frozen=True, slots=True)
class EndLost:
    """Effect: log that the end of an incident was never seen."""


Effect = Tell | PutOff | Ended | Counted | EndLost
