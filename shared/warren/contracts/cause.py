"""Causes: whose trouble it is that a group is not OK, by what evidence, and what to do."""

from pydantic import BaseModel, ConfigDict, Field

from warren.contracts.event import Moment, Offset, Partition, is_empty, is_none


class CauseEvidence(BaseModel):
    """What speaks for the cause; only what it rests on is there."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: str | None = Field(default=None, exclude_if=is_none)
    partition: Partition | None = Field(default=None, exclude_if=is_none)
    offset: Offset | None = Field(
        default=None, exclude_if=is_none, description="Committed offset of that partition"
    )
    log_end: Offset | None = Field(default=None, exclude_if=is_none)
    partitions: int | None = Field(
        default=None, exclude_if=is_none, description="Partitions that it is about"
    )
    since: Moment | None = Field(default=None, exclude_if=is_none)
    client_id: str | None = Field(default=None, exclude_if=is_none)
    host: str | None = Field(default=None, exclude_if=is_none)
    members: int | None = Field(default=None, exclude_if=is_none)
    broker: int | None = Field(default=None, exclude_if=is_none, description="Its id")
    transactional_id: str | None = Field(default=None, exclude_if=is_none)
    producer_id: int | None = Field(default=None, exclude_if=is_none)
    consumed_per_s: float | None = Field(
        default=None, exclude_if=is_none, description="Records a second, of those partitions"
    )
    produced_per_s: float | None = Field(default=None, exclude_if=is_none)
    produced_before_per_s: float | None = Field(default=None, exclude_if=is_none)
    caught_up_at: Moment | None = Field(
        default=None, exclude_if=is_none, description="If the rates stay as is said"
    )
    times: int | None = Field(
        default=None, exclude_if=is_none, description="Rebalances or incidents within within_ms"
    )
    within_ms: int | None = Field(default=None, exclude_if=is_none)
    lost_records: int | None = Field(default=None, exclude_if=is_none)
    freshness_ms: int | None = Field(
        default=None, exclude_if=is_none, description="How late the group is, at least"
    )


class Finding(BaseModel):
    """A cause by itself: what is wrong, by what evidence, and what to do."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(description="See docs/causes.md; more may come")
    sentence: str = Field(description="What is wrong, with figures")
    short: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="The same in a few words, without figures, for lists and subjects; absent in "
        "events of before there was one",
    )
    action: str | None = Field(default=None, description="What to do, or look at")
    evidence: CauseEvidence = CauseEvidence()

    @property
    def brief(self) -> str:
        """In a few words, where there are some."""
        return self.short or self.sentence


class Cause(Finding):
    """The cause of a verdict that is not OK: the root, where one is known, else what follows from
    it. `unknown`: nothing speaks clearly for any.
    """

    also: list[Finding] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="Consequences that are seen too, the gravest first: lost records, a backlog "
        "that stays, incidents again and again; absent when none is",
    )

    @property
    def findings(self) -> list[Finding]:
        """The cause, then its consequences."""
        return [self, *self.also]

    @property
    def line(self) -> str:
        """All sentences, for where one line has to do."""
        return "; also: ".join(found.sentence for found in self.findings)

    @property
    def is_known(self) -> bool:
        return self.name != "unknown"
