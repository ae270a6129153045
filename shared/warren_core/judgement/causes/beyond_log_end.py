"""Cause: the committed offset is one that the log does not have."""

from warren.contracts.status import Status
from warren.words import grouped, shell_word

from warren_core.evaluation import Column
from warren_core.judgement.causes.catalogue import BOOTSTRAP, Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause("root", 10, "Committed offset beyond the log end", "a partition is BEYOND_END")
def beyond_log_end(facts: Facts) -> Found | None:
    rows = facts.with_status(Status.BEYOND_END)
    if not rows:
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    log_end = int(facts.windows.log_ends[row, -1])
    return found(
        f"Committed offset {grouped(offset)} is beyond the log end {grouped(log_end)} "
        f"({listed(facts, rows)})",
        "If the topic was recreated or its log truncated, stop the consumers and reset the offset, "
        f"--to-earliest or --to-latest: kafka-consumer-groups {BOOTSTRAP} "
        f"--group={shell_word(facts.group)} --topic {shell_word(topic)}:{partition} "
        "--reset-offsets --to-earliest --execute",
        topic=topic,
        partition=partition,
        offset=offset,
        log_end=log_end,
        partitions=len(rows),
    )
