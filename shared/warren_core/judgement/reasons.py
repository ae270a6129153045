"""Reasons: why a group and its partitions are not OK, as the events carry it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from warren.contracts.status import Status
from warren.words import grouped

from warren_core.evaluation import Explanation, Int64
from warren_core.evaluation.policies import Statuses
from warren_core.judgement.layout import Layout
from warren_core.judgement.status_names import partition_name


@dataclass(frozen=True, slots=True)
class Reasons:
    """Of one evaluation. `worst_first` are the rows that are not OK."""

    by_row: dict[int, Explanation]
    worst_first: list[int]
    explanation: str | None  # of the group

    @property
    def reason(self) -> str | None:
        """Of the group: that of its worst partition."""
        return self.by_row[self.worst_first[0]].reason if self.worst_first else None


NONE = Reasons({}, [], None)


def reasons(
    layout: Layout, status: Statuses, lag: Int64, by_row: dict[int, Explanation]
) -> Reasons:
    if not by_row:
        return NONE
    worst_first: list[int] = bad_rows(status, lag).tolist()
    worst = worst_first[0]
    topic, partition = layout.name(worst)
    more = len(worst_first) - 1
    others = f"; {grouped(more)} more {'is' if more == 1 else 'are'} not OK" if more else ""
    said = f"{topic}/{partition} {partition_name(int(status[worst]))}: {by_row[worst].sentence}"
    return Reasons(by_row, worst_first, said + others)


def bad_rows(status: Statuses, lag: Int64, group: Int64 | None = None) -> Int64:
    """Rows that are not OK, the worst first: by status and then by lag; equal ones by topic and
    partition. `group`: [partition] the number of its group, which counts before all that.
    """
    rows = np.flatnonzero(status > Status.OK)
    keys = [rows, -lag[rows], -status[rows].astype(np.int64)]
    if group is not None:
        keys.append(group[rows])
    worst: Int64 = rows[np.lexsort(keys)]
    return worst
