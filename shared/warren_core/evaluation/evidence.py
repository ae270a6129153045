"""Evidence: what a policy may look at."""

from dataclasses import dataclass

from warren_core.evaluation.track import Track
from warren_core.evaluation.windows import Bools, Int64, Windows


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """Partitions that the group has never committed; their windows hold an assumed commit."""

    rows: Bools  # [partition] which they are
    owned: Bools  # [partition] a member owns it
    commits: Bools  # [partition] its group commits others: it does not keep its offsets elsewhere


@dataclass(frozen=True, slots=True)
class Evidence:
    """All partitions to be judged, as they are at one moment (or each at its own).

    A current lag is UNKNOWN when no log end was ever seen. A policy does not look at partitions
    without commits: `judge_partitions` keeps them OK whatever it says. Where observations were not
    followed there is no track; `progress` then learns from the windows.
    """

    windows: Windows
    current_lag: Int64  # [partition]
    now_ms: int | Int64  # for all, or [partition]
    track: Track | None = None
    uncommitted: Uncommitted | None = None  # None: there are none
