"""`[notifier]`: routes, channels, and how long and where to deliver."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, field_validator, model_validator

from warren.contracts.status_change import EVENT_TYPES, EventTypeName
from warren.section import Seconds, SecondsOrNone, Section
from warren.settings.channels import ChannelTable, WebAddressOrNone
from warren.settings.expressions import Expressions
from warren.settings.mute_window import MuteWindow

LabelName = Literal["cluster", "route", "topic", "owner", "cause"]
LABELS: tuple[LabelName, ...] = get_args(LabelName)
SeverityName = Literal["OK", "WARN", "ERR"]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$")]


class RouteSettings(Section):
    """Which changes go to which channels. Routes are tried in order; the first match wins."""

    name: Name = Field(description="Unique name; part of delivery ids, so keep it")
    channels: list[Name] = Field(min_length=1, description="Names of `[notifier.channels.<name>]`")
    clusters: Expressions = Field(
        default_factory=list, description="Only clusters that match one (regular expressions)"
    )
    groups_allow: Expressions = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    groups_deny: Expressions = Field(
        default_factory=list, description="Never groups that match one (regular expressions)"
    )
    event_types: list[EventTypeName] = Field(
        default_factory=list,
        description=f"Only events of these types, {', '.join(EVENT_TYPES[:-1])} or "
        f"{EVENT_TYPES[-1]}; empty for all",
    )
    minimum_severity: SeverityName = Field(
        default="WARN", description="Least severe status that is sent"
    )
    send_resolved: bool = Field(
        default=True, description="Send the end of an incident to where its opening went"
    )
    repeat_interval: SecondsOrNone = Field(
        default=0,
        description="Seconds, at least 1, after which an open incident is sent again; 0 never",
    )
    mute: list[MuteWindow] = Field(
        default_factory=list,
        description="Times of the week at which it tells nothing; what is still so afterwards is "
        "told then",
    )
    group_by: list[LabelName] | None = Field(
        default=None,
        description="What incidents that are told together, in one message, have in common: "
        f"{', '.join(LABELS[:-1])} or {LABELS[-1]}; empty: each is told alone. Not set: `cluster` "
        "on channels for people (e-mail, Slack, Teams); machines get each event",
    )
    group_wait: SecondsOrNone | None = Field(
        default=None,
        description="Seconds that an opening waits for others, or for its end: then nothing is "
        "said. Not set: 30 where incidents are told together, else 0",
    )
    group_interval: Seconds = Field(
        default=300, description="Least seconds between two messages about incidents told together"
    )
    escalate_after: SecondsOrNone = Field(
        default=0,
        description="Seconds that an incident stays bad, and nobody acknowledges it, until "
        "`escalate_to` are told too; 0 never",
    )
    escalate_to: list[Name] = Field(
        default_factory=list, description="Names of the further channels"
    )
    continue_matching: bool = Field(
        default=False, description="Try the following routes too; a channel gets a change once"
    )

    @field_validator("repeat_interval")
    @classmethod
    def _leaves_time(cls, value: float) -> float:
        if 0 < value < 1:
            raise ValueError(f"{value:g} s would flood the receiver: at least 1, or 0 for never")
        return value


class NotifierSettings(Section):
    """Delivery of changes to people and machines."""

    group_id: str = Field(
        default="", description="Consumer group of the notifiers; empty: `<instance>-notifier`"
    )
    routes: list[RouteSettings] = Field(default_factory=list, description="Which changes go where")
    channels: dict[Name, ChannelTable] = Field(
        default_factory=dict, description="Where changes can go"
    )
    link_base: WebAddressOrNone = Field(
        default="", description="URL of Warren's pages for people, for links to groups; empty: none"
    )
    allow_networks: list[str] = Field(
        default_factory=list,
        description="Networks (CIDR) that URLs may lead to although they are private or loopback. "
        "An address at which a cloud gives out credentials needs a network of its own, such as "
        "169.254.169.254/32",
    )
    deny_channels: list[str] = Field(
        default_factory=list,
        description="Types that no channel may have, such as apprise: the service does not start",
    )
    deadline: Seconds = Field(
        default=86400,
        description="Seconds after which a delivery is given up and dead-lettered; the end of what "
        "was opened is tried on, every hour",
    )
    flap_openings: int = Field(
        default=5,
        ge=0,
        description="Incidents of a group within `flap_window` that are told as flapping, once, "
        "until it has been quiet; 0 tells each",
    )
    flap_window: Seconds = Field(
        default=1800,
        description="Seconds; a group that flaps is quiet when nothing has changed for as long",
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )

    @field_validator("allow_networks")
    @classmethod
    def _networks(cls, value: list[str]) -> list[str]:
        for text in value:
            ip_network(text)
        return value

    @model_validator(mode="after")
    def _types_are_not_denied(self) -> Self:
        for name, channel in self.channels.items():
            if channel.type in self.deny_channels:
                raise ValueError(
                    f"channel {name}: type {channel.type} is in deny_channels: use another type, "
                    "or take it off that list"
                )
        return self

    @model_validator(mode="after")
    def _routes_fit_channels(self) -> Self:
        for route in self.routes:
            named = (*route.channels, *route.escalate_to)
            unknown = [name for name in named if name not in self.channels]
            if unknown:
                known = ", ".join(sorted(self.channels)) or "none"
                raise ValueError(f"route {route.name}: no channel {unknown[0]!r} (known: {known})")
            if bool(route.escalate_to) != bool(route.escalate_after):
                raise ValueError(f"route {route.name}: escalate_after and escalate_to go together")
            told = [name for name in route.escalate_to if name in route.channels]
            if told:
                raise ValueError(f"route {route.name}: escalate_to: {told[0]!r} is told at once")
        twice = [name for name, n in Counter(route.name for route in self.routes).items() if n > 1]
        if twice:
            raise ValueError(f"two routes are named {twice[0]!r}")
        if self.flap_openings == 1:
            raise ValueError("flap_openings: 1 is no flapping: 2 or more, or 0 for never")
        return self

    def networks(self) -> list[IPv4Network | IPv6Network]:
        """`allow_networks`, parsed."""
        return [ip_network(text) for text in self.allow_networks]
