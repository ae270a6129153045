"""Evidence: what a policy may look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warren_core.evaluation.track import Track
from warren_core.evaluation.windows import Bools, Int64, Windows


@dataclass(frozen=True, slots=True)
class Following:
    """What is known of windows that are followed while they fill."""

    is_filling: Bools  # [partition] not full yet
    grace_ms: int  # so long, every healthy group may need to be seen to commit
    groups: Int64 | None = None  # [partition] the number of its group; None where all are of one
    doubt: bool | Bools = True  # for all, or [partition]; False: the rules hold to the letter

    def of_group(self, found: Bools) -> bool | Bools:
        """Whether it holds of some partition of the group: for all, or [partition]."""
        if self.groups is None:
            return bool(found.any())
        some = np.zeros(int(self.groups.max(initial=-1)) + 1, np.bool_)
        some[self.groups[found]] = True
        return some[self.groups]


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """Partitions that the group has never committed; their windows hold an assumed commit."""

    rows: Bools  # [partition] which they are
    owned: Bools  # [partition] a member owns it


@dataclass(frozen=True, slots=True)
class Evidence:
    """All partitions to be judged, as they are at one moment (or each at its own).

    A current lag is UNKNOWN when no log end was ever seen. A policy does not look at partitions
    without commits: `judge_partitions` keeps them OK whatever it says. Where observations were not
    followed there is no track; `progress` then learns from the windows. Plain windows, of which
    nobody says how they came about, are not `followed`: the rules hold for them to the letter.
    """

    windows: Windows
    current_lag: Int64  # [partition]
    now_ms: int | Int64  # for all, or [partition]
    track: Track | None = None
    following: Following | None = None
    uncommitted: Uncommitted | None = None  # None: there are none
