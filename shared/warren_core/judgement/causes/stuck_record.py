"""Cause: a few partitions stand, each at a record that the group cannot get past."""

from warren.contracts.status import Status
from warren.words import duration, grouped, shell_word

from warren_core.evaluation import Column
from warren_core.judgement.causes.catalogue import BOOTSTRAP, Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause(
    "root",
    80,
    "Stuck at one record",
    "one partition alone, or at most half of the group's, stand still at their offsets while "
    "commits go on, two records behind at least",
)
def stuck_record(facts: Facts) -> Found | None:
    """Two records behind at least: of one, the last may be a transaction's end."""
    rows = facts.standing()
    is_few = len(rows) == 1 or 0 < 2 * len(rows) <= len(facts.layout)
    if not is_few or facts.worst is not Status.STALL or (facts.lag[rows] < 2).any():
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    since = facts.stands_since([row])
    look = (
        f"Inspect the record: kafka-console-consumer {BOOTSTRAP} --topic "
        f"{shell_word(topic)} --partition {partition} --offset {offset} --max-messages 1"
    )
    what = "a poison record, or a paused partition"
    if facts.lost()[row]:
        what = "retention has deleted the record meanwhile"
        look = (
            "Restart the consumer: it continues where auto.offset.reset says (earliest: at the "
            "oldest record left)"
        )
    return found(
        f"Stuck at offset {grouped(offset)} of {listed(facts, rows)} for "
        f"{duration(facts.now_ms - since)} while commits go on: {what}",
        look,
        topic=topic,
        partition=partition,
        offset=offset,
        since=since,
        **({"partitions": len(rows)} if len(rows) > 1 else {}),
    )
