"""`[notifier.channels.<name>]`: what all channels have. The notifier knows the rest by `type`."""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
from pydantic import AfterValidator, ConfigDict, Field, Secret, field_validator

from warren.section import Seconds, Section

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
