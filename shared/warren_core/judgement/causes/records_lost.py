"""Consequence: retention has deleted what the group had not consumed."""

import numpy as np
from warren.words import after_loss, deleted

from warren_core.judgement.causes.catalogue import Found, cause, found
from warren_core.judgement.facts import Facts


@cause(
    "consequence",
    10,
    "Unread records deleted by retention",
    "the log begins above a committed offset",
)
def records_lost(facts: Facts) -> Found | None:
    lost = facts.lost()
    if not lost.any():
        return None
    worst = int(lost.argmax())
    topic, partition = facts.layout.name(worst)
    some = int(np.count_nonzero(lost))
    return found(
        deleted(int(lost.sum()), facts.name(worst), some),
        after_loss(topic),
        topic=topic,
        partition=partition,
        offset=facts.committed(worst),
        lost_records=int(lost.sum()),
        partitions=some,
    )
