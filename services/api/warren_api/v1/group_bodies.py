"""Bodies of consumer groups."""

from typing import Literal, Self

from pydantic import BaseModel, Field
from warren.contracts import (
    Cause,
    FreshnessReason,
    GroupStatusName,
    Incident,
    OpenTransaction,
    TimeToLossReason,
)
from warren_core.standing.facts import late_of, loss_left

from warren_api.group_row import GroupRow, Shown, UnjudgedRow
from warren_api.model.group import DataLoss, ShownStatusName
from warren_api.model.membership import Membership
from warren_api.model.partitions import ShownPartitionStatusName
from warren_api.model.topics import TopicProgress
from warren_api.v1.group_parts import (
    AcknowledgementNote,
    BrokenObjectiveView,
    FactView,
    Member,
    PartitionDetail,
    RecordedVerdict,
    SilenceNote,
    WorstPartition,
    known,
)

_RATE = "Records per second over about a minute; null until it was measured"


class GroupWords(BaseModel):
    """How a group stands, in the words of pages, mails and the terminal."""

    short: str = Field(description="What is wrong in a few words; empty: nothing")
    why: str = Field(description="The same in sentences, the root first; likewise")
    late: str = Field(description="`5m`; `> 5m`: at least; empty: unknown")
    loss: str = Field(
        description="Until records are lost: `22m`, `now`, `unknown`; or `lost 3,110`; empty: "
        "nothing to lose, or unknown"
    )
    lag: str = Field(description="Records: `2,140`; `≥ 2,140`: at least; or `unknown`")

    @classmethod
    def of(cls, shown: Shown) -> Self:
        figures = shown.standing.figures
        return cls(
            short=shown.short,
            why=shown.why,
            late=late_of(figures),
            loss=loss_left(figures, shown.now),
            lag=shown.lag,
        )


class GroupSummary(BaseModel):
    """A consumer group as last judged, or one that is there but cannot be judged."""

    cluster: str
    group: str
    status: ShownStatusName | None = Field(
        description="UNKNOWN: how it was last judged is no longer to be believed, or nobody says "
        "where the logs end that it reads; status_reason says why; null: not judged, see not_judged"
    )
    last_status: GroupStatusName | None = Field(
        description="Of the last evaluation, however old; null: not judged"
    )
    not_judged: str | None = Field(
        description="Why there is no verdict: lag is not defined by committed offsets (share "
        "groups), or nothing has been committed, and which topic that its members subscribe to is "
        "not there; null: there is one"
    )
    status_reason: str | None = Field(description="Why the status is not OK, for machines")
    ignored: bool = Field(
        description="Not judged, as an override of `[evaluation]` says: its OK means nothing"
    )
    explanation: str | None = Field(description="Why the status is not OK, in one sentence")
    cause: Cause | None = Field(
        description="Whose trouble it is and what to do, as last judged; null: OK, or not judged"
    )
    since: int | None = Field(
        description="When the status began; null when no event told it. Before it the group "
        "may have had another status that is not OK: see incident"
    )
    total_lag: int | None = Field(
        description="Records that can be read; null: the group is not judged, or that of some "
        "partition is unknown"
    )
    total_lag_at_least: int | None = Field(
        description="What total_lag is at least, where some partition's is unknown; else null"
    )
    complete: float | None = Field(
        description="Share of partitions with a full window, 0 to 1; null: the group is not judged"
    )
    worst: WorstPartition | None
    incident: Incident | None = Field(
        description="The open one, as `/incidents` lists it; opened_at: since when the group has "
        "not been OK or has broken an objective, whatever its status was; null: none is open"
    )
    broken_objectives: list[BrokenObjectiveView] = Field(
        description="Limits that are not kept, worst first, each with an open incident: an OK "
        "status says only that the group goes on reading"
    )
    silence: SilenceNote | None = Field(
        description="Why nobody is told of the group now; null: somebody is, as routes say"
    )
    acknowledgement: AcknowledgementNote | None = Field(
        description="Who looks after the open incident; null: nobody has said so"
    )
    evaluated_at: int | None = Field(description="null: the group is not judged")
    partition_counts: dict[ShownPartitionStatusName, int]
    partition_count: int = Field(
        description="Partitions with a committed offset; of a group that is not judged, those "
        "that its members own"
    )
    protocol: Literal["classic", "consumer", "share", "streams"] | None = Field(
        description="null: nothing is known of the group's members"
    )
    state: str | None = Field(description="As Kafka names it; null unknown")
    member_count: int | None = Field(description="null: nothing is known of the group's members")
    freshness_ms: int | None = Field(
        description="Time lag: age of the oldest record not consumed, of the latest partition "
        "whose age is known; 0 caught up; null unknown"
    )
    freshness_at_least_ms: int | None = Field(
        description="How late the group is at least, when some partition's age is unknown; else "
        "null"
    )
    freshness_reason: FreshnessReason | None = Field(
        description="How freshness_ms came about, or why there is none"
    )
    lost_records: int | None = Field(
        description="Offsets deleted before they were consumed; null: the group is not judged"
    )
    time_to_loss_ms: int | None = Field(
        description="Until retention may delete what was not consumed, at least; null when "
        "nothing is, or it is kept for ever, or that is unknown"
    )
    time_to_loss_reason: TimeToLossReason | None = Field(
        description="Which limit it is about; or why that of some partition is not known: "
        "time_to_loss_ms is then no lower bound of the group, only of the partition that it is of"
    )
    data_loss: DataLoss = Field(
        description="`now`: records were deleted before the group had read them; `soon`: some will "
        "be within the hour, unless it reads faster; null: neither"
    )
    freshness_measured_at: int | None = Field(description="null: freshness was never measured")
    freshness_stale: bool = Field(
        description="Measured longer ago than three times the usual interval: do not believe it"
    )
    owner: str | None = Field(
        description="Whose it is, as objectives or `[[groups]]` say; null: none does"
    )
    runbook: str | None = Field(description="What to do where it is in trouble, likewise")
    severity: ShownStatusName | None = Field(
        description="The worst of `status` and of the objectives that it does not keep: what pages "
        "and mails show, and `q=status:` finds",
    )
    words: GroupWords | None = Field(description="null: the group is not judged")

    @classmethod
    def of(cls, row: GroupRow | UnjudgedRow) -> Self:
        return cls._unjudged(row) if isinstance(row, UnjudgedRow) else cls._judged(row)

    @classmethod
    def _unjudged(cls, row: UnjudgedRow) -> Self:
        members = row.membership.event
        return cls(
            cluster=row.cluster,
            group=row.group,
            not_judged=row.membership.not_judged,
            ignored=False,
            broken_objectives=[],
            silence=SilenceNote.of(row.silence),
            partition_counts={},
            partition_count=row.membership.partition_count,
            protocol=members.protocol,
            state=members.state or None,
            member_count=len(members.members),
            freshness_stale=False,
            owner=row.ownership.owner or None,
            runbook=row.ownership.runbook or None,
            status=None,
            last_status=None,
            status_reason=None,
            explanation=None,
            cause=None,
            since=None,
            total_lag=None,
            total_lag_at_least=None,
            complete=None,
            worst=None,
            incident=None,
            acknowledgement=None,
            evaluated_at=None,
            freshness_ms=None,
            freshness_at_least_ms=None,
            freshness_reason=None,
            lost_records=None,
            time_to_loss_ms=None,
            time_to_loss_reason=None,
            data_loss=None,
            freshness_measured_at=None,
            severity=None,
            words=None,
        )

    @classmethod
    def _judged(cls, row: GroupRow) -> Self:
        view, verdict, opened, shown = row.view, row.verdict, row.incident, row.shown
        event, measured = view.event, view.freshness
        members = row.membership.event if row.membership else None
        return cls(
            cluster=row.cluster,
            group=row.group,
            status=verdict.status,
            last_status=verdict.last_status,
            not_judged=None,
            status_reason=verdict.reason,
            ignored=event.reason == "ignored",
            explanation=verdict.explanation,
            cause=row.cause or event.cause,
            since=verdict.since,
            total_lag=view.total_lag,
            total_lag_at_least=view.total_lag_at_least,
            complete=event.complete,
            worst=WorstPartition.of(view.worst) if view.worst else None,
            incident=Incident(id=opened.id, opened_at=opened.opened_at) if opened else None,
            broken_objectives=[
                BrokenObjectiveView.of(one, *row.said_of(one)) for one in view.broken
            ],
            silence=SilenceNote.of(row.silence),
            acknowledgement=AcknowledgementNote.of(row.acknowledgement),
            evaluated_at=event.evaluated_at,
            partition_counts=view.partition_counts,
            partition_count=view.partition_count,
            protocol=members.protocol if members else None,
            state=(members.state or None) if members else None,
            member_count=len(members.members) if members else None,
            freshness_ms=measured.event.freshness_ms if measured else None,
            freshness_at_least_ms=measured.at_least_ms if measured else None,
            freshness_reason=measured.reason if measured else None,
            lost_records=view.lost_records,
            time_to_loss_ms=view.time_to_loss_ms,
            time_to_loss_reason=view.time_to_loss_reason,
            data_loss=view.data_loss,
            freshness_measured_at=measured.event.measured_at if measured else None,
            freshness_stale=row.present.is_stale(view),
            owner=row.ownership.owner or None,
            runbook=row.ownership.runbook or None,
            severity=row.status,
            words=GroupWords.of(shown),
        )


class Groups(BaseModel):
    """Groups, in the order that was asked for."""

    groups: list[GroupSummary]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Groups that matched when the first page was asked for")
    doubts: list[str] = Field(description="Why this may not be how things are; empty when it is")
    hints: list[str] = Field(
        description="What may have been meant otherwise: words of `q` that no group has and that "
        "begin as a key would that there is not, and a `topic` that no group reads; empty when "
        "there is nothing"
    )


class GroupTopic(BaseModel):
    """A topic that the group consumes."""

    topic: str
    partition_count: int
    lag: int | None = Field(description="Records; null when unknown")
    produce_rate: float | None = Field(description=_RATE)
    consume_rate: float | None = Field(description=_RATE)
    catch_up_ms: int | None = Field(
        description="Until the lag is gone if both rates stay as they are; 0 without lag; null "
        "when it does not shrink, or that is unknown"
    )

    @classmethod
    def of(cls, topic: str, progress: TopicProgress) -> Self:
        return cls(
            topic=topic,
            partition_count=len(progress.columns.partition),
            lag=progress.lag,
            produce_rate=progress.produce_rate,
            consume_rate=progress.consume_rate,
            catch_up_ms=progress.catch_up_ms,
        )


class MembershipDetail(BaseModel):
    """Who is in the group, as the group's coordinator last recorded it."""

    observed_at: int
    protocol_type: str
    generation: int | None = Field(description="Generation, or group epoch; null unknown")
    assignor: str
    leader: str | None = Field(description="member_id; classic groups only")
    coordinator: int | None = Field(description="Broker id")
    rebalances: int = Field(description="Rebalances that were seen")
    last_rebalance_at: int | None
    idle_members: int | None = Field(description="Members that are assigned nothing")
    assignment_skew: float | None = Field(
        description="Most / mean partitions per member, 1 is even"
    )
    unowned: dict[str, list[int]] = Field(
        description="Partitions of subscribed topics that no member owns"
    )
    members: list[Member]

    @classmethod
    def of(cls, membership: Membership) -> Self:
        event = membership.event
        return cls(
            observed_at=event.observed_at,
            protocol_type=event.protocol_type,
            generation=known(event.generation),
            assignor=event.assignor,
            leader=event.leader,
            coordinator=event.coordinator,
            rebalances=event.rebalances,
            last_rebalance_at=event.last_rebalance_at,
            idle_members=event.idle_members,
            assignment_skew=event.assignment_skew,
            unowned=event.unowned,
            members=[Member.of(member) for member in event.members],
        )


class GroupDetail(GroupSummary):
    """A group with its topics and partitions, by name and number, its members and its past."""

    policy: str | None = Field(description="Rules by which it was judged; null: it was not")
    labels: dict[str, str] = Field(description="What else is told of it, likewise")
    action: str | None = Field(
        description="What to do first; null: nobody can say, or nothing need be done"
    )
    facts: list[FactView] = Field(
        description="How it stands, fact by fact; what may be otherwise by now carries its time"
    )
    topics: list[GroupTopic]
    partitions: list[PartitionDetail]
    membership: MembershipDetail | None = Field(
        description="null: nothing is known of the group's members"
    )
    open_transactions: list[OpenTransaction] = Field(
        description="What the group waits for if it reads committed records, oldest first"
    )
    history: list[RecordedVerdict] = Field(
        description="Status changes that are remembered, newest first, at most 100"
    )
    doubts: list[str] = Field(description="Why this may not be how things are; empty when it is")
