"""The status that is shown of a group, and why."""

from __future__ import annotations

from typing import Literal, NamedTuple

from warren.contracts import GroupStatusName

ShownStatusName = Literal["NOTFOUND", "OK", "WARN", "ERR", "UNKNOWN"]


class Verdict(NamedTuple):
    """`reason` and `explanation` say why the status is not OK, `since` when it began (Unix
    milliseconds; None when no event told it).
    """

    status: ShownStatusName
    last_status: GroupStatusName
    reason: str | None
    explanation: str | None
    since: int | None

    @property
    def is_known(self) -> bool:
        return self.status != "UNKNOWN"
