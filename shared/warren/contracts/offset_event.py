"""`warren.offsets`: the positions of one consumer group, or of some of its topics."""

import operator
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.event import (
    EventOfGroup,
    Milliseconds,
    Moment,
    Offset,
    Partition,
    Row,
    is_none,
    require_equal_lengths,
)

SourceName = Literal["offsets_topic", "admin_api", "zookeeper"]


class TopicPositions(BaseModel):
    """Columns, one entry per partition of the topic."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    partition: list[Row]
    committed: list[Offset] = Field(description="Committed offset; -1 when never committed")
    committed_at: list[Milliseconds] = Field(description="Commit time; -1 when never committed")
    commits: list[int] = Field(description="Commits folded into this event; the newest won")
    log_start: list[Offset] = Field(description="Log start offset; -1 unknown")
    log_end: list[Offset] = Field(description="Log end offset, read after the commits; -1 unknown")
    leader: list[int] | None = Field(
        default=None,
        exclude_if=is_none,
        description="Broker that leads the partition; -1 none, or unknown; absent from collectors "
        "that do not tell",
    )
    last_stable: list[Offset] | None = Field(
        default=None,
        exclude_if=is_none,
        description="Last stable offset where it is not the log end and the group stands behind "
        "it: what follows is read with isolation.level=read_committed only when an open "
        "transaction has ended. -1 elsewhere; absent where there is none",
    )
    owned: list[int] | None = Field(
        default=None,
        exclude_if=is_none,
        description="Where nothing was ever committed: 1 a member owns the partition, 0 none does; "
        "-1 elsewhere, and where nobody knows. Absent where all has been committed. A topic of "
        "which nothing was committed lists its partitions that a member owns, or owned last",
    )

    @model_validator(mode="after")
    def _columns(self) -> Self:
        require_equal_lengths(self)
        return self


class EarlierPositions(BaseModel):
    """What was before an event, of partitions that a collector tells of for the first time.

    Columns, one entry per partition; each is a list, oldest first, that may be empty.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    partition: list[Row]
    log_end: list[list[Offset]] = Field(description="Ends of the log before, about 10 s apart")
    committed: list[list[Offset]] = Field(
        description="Offsets committed before, as far as the offsets topic still has them; only "
        "when no collector has read it before"
    )
    committed_at: list[list[Milliseconds]] = Field(description="Their commit times")

    @model_validator(mode="after")
    def _columns(self) -> Self:
        require_equal_lengths(self)
        if any(len(c) != len(t) for c, t in zip(self.committed, self.committed_at, strict=True)):
            raise ValueError("committed and committed_at differ in length")
        return self


class OffsetEvent(EventOfGroup):
    """Positions as observed at one moment; all that the evaluator needs to judge the group.

    `observed_at` is the judge's "now". `(position, observed_at)` orders the events of a group: one
    that is not newer than the last applied is a duplicate. Where one of both has no position (-1),
    or the source differs, the time alone counts.
    """

    topic_name: ClassVar[str] = "offsets"

    source: SourceName
    observed_at: Moment
    position: int = Field(
        ge=-1,
        description="Offset in __consumer_offsets up to which the group's records are folded in; "
        "-1 for other sources, and for a group that several sources know",
    )
    topics: dict[str, TopicPositions] = Field(default_factory=dict)
    group_state: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="State of the group as DescribeConsumerGroups names it; absent where it is not "
        "known, and of a group whose consumers assign partitions to themselves",
    )
    removed: dict[str, list[Partition]] = Field(
        default_factory=dict, description="Partitions whose committed offsets were deleted"
    )
    earlier: dict[str, EarlierPositions] | None = Field(
        default=None,
        exclude_if=is_none,
        description="By topic, what was before; absent but for positions told for the first time",
    )
    expired_after_ms: int | None = Field(
        default=None,
        exclude_if=is_none,
        description="What was removed had no commit for so long, the brokers' "
        "offsets.retention.minutes: it has expired, nobody deleted it; absent otherwise",
    )
    deleted: bool = Field(default=False, description="The whole group is gone")
    part: int = Field(default=0, ge=0, description="Which part of an observation, from 0")
    parts: int = Field(
        default=1,
        ge=1,
        description="Parts of the observation; the group is judged when the last one is there",
    )
    unwatched: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="What was removed is committed still, but the collector's settings leave it "
        "out now; absent otherwise",
    )
    forget: list[str] | None = Field(
        default=None,
        description="Set in an event that observes nothing but asks to forget: what these topics, "
        "or all of the group's when there are none, committed until observed_at is forgotten until "
        "they commit again",
    )
