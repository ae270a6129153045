"""`[notifier]`: routes, channels, and how long and where to deliver."""

import re
from collections import Counter
from datetime import time
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import httpx
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    Secret,
    StringConstraints,
    field_validator,
    model_validator,
)

from warren.contracts.status_change import EVENT_TYPES, EventTypeName
from warren.section import Seconds, SecondsOrNone, Section
from warren.settings.expressions import Expressions

LEAST_RATE = 0.01  # messages a minute


def web_address(value: str) -> str:
    """Raises ValueError, also for a port that there is not: `urlsplit` says so when asked."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an http:// or https:// URL is needed")
    try:
        host = httpx.URL(value).host
    except (httpx.InvalidURL, UnicodeError) as error:  # UnicodeError: of the library idna
        raise ValueError(str(error)) from None
    if parts.port == 0 or re.search(r"\s|%20", host):
        raise ValueError("host or port is none")
    return value.rstrip("/")


WebAddress = Annotated[str, AfterValidator(web_address)]
WebAddressOrNone = Annotated[str, AfterValidator(lambda value: value and web_address(value))]


class ChannelSettings(Section):
    """What all channels have."""

    type: str = Field(description="Kind of channel")
    timeout: Seconds = Field(default=10, description="Seconds that one attempt may take")
    concurrency: int = Field(default=4, ge=1, le=64, description="Most attempts at the same time")
    rate: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0,
        description="Messages a minute at most, of each notifier, after 10 at once; 0: no limit",
    )
    ca: str = Field(
        default="", description="Certificate authorities to trust beside the usual ones, PEM"
    )

    @field_validator("rate")
    @classmethod
    def _now_and_then(cls, value: float) -> float:
        if 0 < value < LEAST_RATE:
            raise ValueError(f"is {LEAST_RATE:g} at least, a message in 100 minutes; 0: no limit")
        return value


class ChannelTable(ChannelSettings):
    """A channel; what it has beside these depends on its `type`, see channels.md."""

    model_config = ConfigDict(extra="allow")
    # Only the notifier knows which of them are secret: none shows.
    __pydantic_extra__: dict[str, Secret[Any]]

    def written(self) -> dict[str, Any]:
        """All that the table says, what is secret too."""
        more = {name: hidden.get_secret_value() for name, hidden in self.__pydantic_extra__.items()}
        return {name: getattr(self, name) for name in self.model_fields_set - more.keys()} | more


# `mute` of a route: times of the week at which it tells nothing.


DayName = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[DayName, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")]


class MuteWindow(Section):
    """From one time of day to another; to an earlier one, or the same, of the next day."""

    days: list[DayName] = Field(
        default_factory=list, description="Days on which it begins, such as sat; empty: every day"
    )
    from_: TimeOfDay = Field(alias="from", default="00:00", description="Its begin, hh:mm")
    to: TimeOfDay = Field(default="24:00", description="Its end, hh:mm; 24:00 is midnight")
    zone: str = Field(default="UTC", description="Time zone, such as Europe/Berlin")

    @field_validator("zone")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, OSError, ValueError):  # not found is a KeyError, a directory an OSError
            raise ValueError(f"no time zone {value!r}, such as Europe/Berlin") from None
        return value

    @model_validator(mode="after")
    def _begins_on_its_day(self) -> Self:
        if self.from_ == "24:00":
            raise ValueError("`from` is 23:59 at the latest; 24:00 is 00:00 of the day after")
        is_whole_day = self.from_ == self.to or (self.from_, self.to) == ("00:00", "24:00")
        if is_whole_day and not self.days:
            raise ValueError(
                "it would mute at all times: name `days`, or `from` and `to`; "
                "`warren silence add` silences for some hours"
            )
        return self

    @property
    def begin(self) -> time:
        return time.fromisoformat(self.from_)

    @property
    def end(self) -> time | None:
        """None: midnight at the end of the day."""
        return None if self.to == "24:00" else time.fromisoformat(self.to)


SeverityName = Literal["OK", "WARN", "ERR"]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$")]


class RouteSettings(Section):
    """Which changes go to which channels. Routes are tried in order; the first match wins."""

    name: Name = Field(
        description="Unique name (letters, digits, `.`, `_`, `-`); part of delivery ids, so keep it"
    )
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
    group_wait: SecondsOrNone | None = Field(
        default=None,
        description="Seconds that an opening waits for others, or for its end: then nothing is "
        "said. Not set: 30 where incidents are told together, else 0",
    )
    group_interval: Seconds = Field(
        default=300,
        description="Least seconds between two messages about incidents told together; an ERR or "
        "a loss of records that begins waits for `group_wait` only, as long as messages are few",
    )
    continue_matching: bool = Field(
        default=False, description="Try the following routes too; a channel gets a change once"
    )

    @field_validator("repeat_interval")
    @classmethod
    def _leaves_time(cls, value: float) -> float:
        if 0 < value < 1:
            raise ValueError(f"{value:g}s would flood the receiver: at least 1, or 0 for never")
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
            try:
                ip_network(text)
            except ValueError:
                raise ValueError(_no_network(text)) from None
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
            unknown = [name for name in route.channels if name not in self.channels]
            if unknown:
                known = ", ".join(sorted(self.channels)) or "none"
                raise ValueError(f"route {route.name}: no channel {unknown[0]!r} (known: {known})")
        twice = [name for name, n in Counter(route.name for route in self.routes).items() if n > 1]
        if twice:
            raise ValueError(f"two routes are named {twice[0]!r}")
        if self.flap_openings == 1:
            raise ValueError("flap_openings: 1 is no flapping: 2 or more, or 0 for never")
        return self

    def networks(self) -> list[IPv4Network | IPv6Network]:
        """`allow_networks`, parsed."""
        return [ip_network(text) for text in self.allow_networks]


def _no_network(text: str) -> str:
    """Of an address of a network's, with its length, the network is easily meant."""
    try:
        return f"{text!r} has host bits set; did you mean {ip_network(text, strict=False)}?"
    except ValueError:
        return f"{text!r} is no network in CIDR, such as 10.0.0.0/8"
