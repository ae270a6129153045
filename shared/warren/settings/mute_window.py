"""`mute` of a route: times of the week at which it tells nothing."""

from __future__ import annotations

from datetime import time
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints, field_validator, model_validator

from warren.section import Section

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
