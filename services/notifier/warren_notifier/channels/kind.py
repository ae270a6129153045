"""A kind of channel: what it is called, its settings, and what sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, get_args

from warren.clock import Clock
from warren.settings.channels import ChannelSettings

from warren_notifier.channels.channel import Channel
from warren_notifier.channels.egress import EgressGuard

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
