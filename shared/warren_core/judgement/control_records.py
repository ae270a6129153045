"""Control records: the end of a transaction lies behind its last record, and nobody reads it.

A client that commits the offset after the record that it has processed rests one before the log
end there, and the rules see a lag that never goes away. Who has read the log knows better.
"""

from __future__ import annotations

from dataclasses import replace

from warren.contracts.status import Status

from warren_core.evaluation.verdicts import PartitionVerdicts
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.layout import MISSING
from warren_core.judgement.state import GroupState, Latest

_OF_A_LAG = (Status.WARN, Status.STOP, Status.STALL)


def told_nothing_left(
    verdicts: PartitionVerdicts, state: GroupState, knowledge: Knowledge
) -> PartitionVerdicts:
    """The verdicts with OK where freshness found no record at or after the committed offset."""
    if (verdicts.status == Status.OK).all():  # as nearly always
        return verdicts
    late = knowledge.lateness_at(state.applied.observed_at)
    if late is None or not late.nothing_left:
        return verdicts
    status = verdicts.status.copy()
    for topic, partition, committed in late.nothing_left:
        (row,) = state.layout.rows(topic, [partition])
        if row == MISSING or state.latest[Latest.COMMITTED, row] != committed:
            continue
        if status[row] in _OF_A_LAG:
            status[row] = Status.OK
    return replace(verdicts, status=status)
