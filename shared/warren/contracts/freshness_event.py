"""`warren.freshness`: how late a consumer group is, in time, and how long until it loses data."""

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.event import (
    Count,
    EventOfGroup,
    Milliseconds,
    Moment,
    Offset,
    Partition,
    Row,
    nulls,
    require_equal_lengths,
)
from warren.reason_words import TimeToLossReason

# The offset that is read next, as Kafka's own clients commit it, or the last one processed.
CommitConvention = Literal["next", "last_processed"]


FreshnessReason = Literal[
    "caught_up",
    "exact",
    "estimated",
    "expired",
    "no_commit",
    "control_only",
    "bad_timestamp",
    "timeout",
    "not_authorised",
    "beyond_end",
    "open_transaction",
]

_LOSS_REASON = (
    "retention_ms: time deletes first; retention_bytes: size does, as the log grows now; unknown "
    "where it is size_unknown (how fast the log grows was not seen yet), not_authorised (DESCRIBE "
    "on the cluster tells the size), oldest_unknown (the time of the oldest record not consumed) "
    "or config_unknown (DESCRIBE_CONFIGS on the topic tells its retention)"
)


_RATE = "a second: the median slope of about the last minute; null until it was seen twice"


# Nothing is amiss with these, unless a bound says that records have come all the same.
_AT_EASE = frozenset(("caught_up", "control_only", "no_commit"))


class TopicFreshness(BaseModel):
    """Columns, one entry per partition of the topic. docs/freshness.md defines each figure."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    partition: list[Row]
    committed: list[Offset] = Field(description="Offset that the row is about; -1 never committed")
    freshness_ms: list[int | None] = Field(
        description="Age of the oldest record not consumed; 0 caught up; null unknown"
    )
    reason: list[FreshnessReason] = Field(description="How the value came about, or why none did")
    bound_ms: list[int | None] = Field(
        description="How far the value may be off; where it is unknown, what it is at least: of "
        "no_commit, since when records have come after it was first seen so; null: none has"
    )
    lost_records: list[Count] = Field(description="Offsets deleted before they were consumed")
    time_to_loss_ms: list[int | None] = Field(
        description="Until time or size (retention.ms, retention.bytes) may delete the oldest "
        "record not consumed, at least; null when there is none, or it is kept for ever, or that "
        "is unknown"
    )
    oldest_at: list[Milliseconds | None] = Field(
        description="Append time of the oldest record not consumed"
    )
    commit_lag_ms: list[int | None] = Field(
        description="Commit time - append time of the last committed record; sampled"
    )
    append_lag_ms: list[int | None] = Field(
        description="Append time of the log's newest record - that of the last committed record; "
        "sampled"
    )
    late_since: list[Milliseconds | None] = Field(
        default_factory=nulls,
        description="Since when, at the latest, there has been a record that the group has not "
        "consumed; never later while nothing is committed; null: there is none, or it is unknown",
    )
    time_to_loss_reason: list[TimeToLossReason | None] = Field(
        default_factory=nulls,
        description=f"Which limit time_to_loss_ms is about. {_LOSS_REASON}",
    )
    produce_rate: list[float | None] = Field(
        default_factory=nulls,
        description=f"Records appended, {_RATE}",
    )
    consume_rate: list[float | None] = Field(
        default_factory=nulls, description=f"Records committed, {_RATE}"
    )
    time_to_catch_up_ms: list[int | None] = Field(
        default_factory=nulls,
        description="Until nothing is left to consume if both rates stay as they are; 0 where "
        "nothing is; null when it does not shrink, or that is unknown",
    )
    retention_left: list[float | None] = Field(
        default_factory=nulls,
        description="What is left of the limit that time_to_loss_ms is about, at least, from 1 to "
        "0; null where that is null",
    )
    commit_convention: CommitConvention | None = Field(
        default=None,
        description="What the group's committed offsets are seen to be: the offsets that it reads "
        "next, or the last ones that it has processed; null: nothing has shown it yet",
    )

    @model_validator(mode="after")
    def _columns(self) -> Self:
        require_equal_lengths(self)
        return self

    def is_unwritten(self, row: int) -> bool:
        """Nothing was committed there, nor written since that is known: no value is missing."""
        return self.reason[row] == "no_commit" and self.bound_ms[row] is None

    def is_at_ease(self, row: int) -> bool:
        """Nothing is left to consume there, as far as anybody knows."""
        reason = self.reason[row]
        return reason in _AT_EASE and (reason != "no_commit" or self.is_unwritten(row))

    @property
    def catch_up_ms(self) -> list[int | None]:
        """Of the partitions of which there is something to say."""
        left = enumerate(self.time_to_catch_up_ms)
        return [milliseconds for row, milliseconds in left if not self.is_unwritten(row)]

    @property
    def all_at_ease(self) -> bool:
        if not _AT_EASE.issuperset(self.reason):
            return False
        return "no_commit" not in self.reason or all(map(self.is_at_ease, range(len(self.reason))))


class WorstFreshness(BaseModel):
    """The partition that is latest, by what is known or by what it is at least."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: str
    partition: Partition
    freshness_ms: int = Field(ge=0)
    at_least: bool = Field(default=False, description="freshness_ms is a lower bound")


class OpenTransaction(BaseModel):
    """A transaction that a group has come to: who reads committed records waits for its end."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: str
    partition: Partition
    first_offset: Offset = Field(description="The partition's last stable offset")
    since: Moment | None = Field(
        default=None, description="Append time of its first record; null unknown"
    )
    producer_id: int | None = Field(
        default=None, description="null where the broker does not say (DescribeProducers)"
    )
    producer_epoch: int | None = None
    transactional_id: str | None = Field(
        default=None, description="null where the brokers do not say (ListTransactions)"
    )
    hanging: bool = Field(
        default=False,
        description="Open for longer than brokers let a transaction be by default (15 min)",
    )


class FreshnessEvent(EventOfGroup):
    """One measurement of a group. The topic is compacted: the newest per group is its state."""

    topic_name: ClassVar[str] = "freshness"

    measured_at: Moment
    observed_at: Moment = Field(
        description="observed_at of the newest offset event that the positions come from"
    )
    freshness_ms: int | None = Field(description="Worst known of all partitions; null: none known")
    lost_records: Count = Field(description="Sum over all partitions")
    time_to_loss_ms: int | None = Field(description="Smallest known of all partitions")
    time_to_loss_reason: TimeToLossReason | None = Field(
        default=None,
        description="Of the smallest known one; or, where that of some partition is not known, why "
        "not: the smallest known one is then no lower bound of the group. " + _LOSS_REASON,
    )
    at_least_ms: int | None = Field(
        default=None,
        description="How late the group is at least, where some partition's value is unknown",
    )
    produce_rate: float | None = Field(
        default=None, description="Records a second, of all partitions; null: none known"
    )
    consume_rate: float | None = Field(default=None, description="The same, consumed")
    time_to_catch_up_ms: int | None = Field(
        default=None,
        description="Until the slowest partition has caught up if rates stay as they are; 0 when "
        "all have; null when one does not, or that is unknown",
    )
    retention_left: float | None = Field(
        default=None, description="Smallest known of all partitions; null: none known"
    )
    worst: WorstFreshness | None = None
    open_transactions: list[OpenTransaction] = Field(
        default_factory=list,
        description="What holds up a group that reads committed records, oldest first, at most 20",
    )
    topics: dict[str, TopicFreshness] = Field(default_factory=dict)
