"""The catalogue of silver tables: docs/tables.md is made from it."""

from pyspark.sql.types import ArrayType, StructField, StructType

from warren_archiver.lake.table import (
    BYTES,
    DAY,
    FLAG,
    RATIO,
    SMALL,
    TEXT,
    TIME,
    WHOLE,
    Field,
    Kept,
    Table,
)

_COORDINATES = (
    Field("kafka_topic", TEXT, "The record's topic"),
    Field("kafka_topic_id", TEXT, "That topic's id"),
    Field("kafka_partition", SMALL, "The record's partition"),
    Field("kafka_offset", WHOLE, "The record's offset"),
    Field("kafka_timestamp", TIME, "When the record was appended"),
)
_GROUP = (
    Field("cluster", TEXT, "The cluster's name"),
    Field("group", TEXT, "The consumer group"),
)
_PARTITION = (
    Field("topic", TEXT, "The topic"),
    Field("partition", WHOLE, "Its partition"),
)
_PLACE = ("kafka_topic_id", "kafka_partition", "kafka_offset")
_MINUTE = Field("minute", TIME, "Its beginning")
_AT = Field("at", TIME, "When it was observed, by Warren's clock")


def _date(of: str) -> Field:
    return Field("date", DAY, f"UTC day of `{of}`")


_MOVES = (
    Field("produced", WHOLE, "Records appended to the log, by its ends", null="unknown"),
    Field("consumed", WHOLE, "Records that the committed offset advanced over", null="unknown"),
    Field("rewound", WHOLE, "Records that it went back over", null="unknown"),
)

PARTITION_MINUTES = Table(
    "partition_minutes",
    "A partition of a group in a minute in which it was observed. Moves are those since the "
    "observation before: one that began in the minute before counts where it was observed. They "
    "are null where that is more than 10 min ago, or there is none.",
    ("cluster", "group", "topic", "partition", "minute"),
    (
        *_GROUP,
        *_PARTITION,
        _MINUTE,
        Field("observations", WHOLE, "How many there were, each counting once"),
        Field("commits", WHOLE, "Commits seen", null="unknown"),
        Field("committed", WHOLE, "Last committed offset", null="when never committed"),
        Field("log_start", WHOLE, "Last log start offset", null="unknown"),
        Field("log_end", WHOLE, "Last log end offset", null="unknown"),
        Field("lag", WHOLE, "Last lag: what could be read", null="unknown"),
        Field("lag_min", WHOLE, "Least lag", null="unknown"),
        Field("lag_max", WHOLE, "Greatest lag", null="unknown"),
        *_MOVES,
        _date("minute"),
    ),
    Kept.AS_MINUTES,
)

GROUP_MINUTES = Table(
    "group_minutes",
    "A group in a minute: sums over its partitions that were observed then.",
    ("cluster", "group", "minute"),
    (
        *_GROUP,
        _MINUTE,
        Field("topics", WHOLE, "Topics with a partition that was observed"),
        Field("partitions", WHOLE, "Partitions that were observed"),
        Field("commits", WHOLE, "Commits seen", null="unknown"),
        Field("lag", WHOLE, "Sum of the partitions' last lags, as far as known", null="unknown"),
        Field("lag_max", WHOLE, "Greatest lag of a partition", null="unknown"),
        *_MOVES,
        _date("minute"),
    ),
    Kept.AS_MINUTES,
)

TOPIC_MINUTES = Table(
    "topic_minutes",
    "A topic in a minute, whether a group consumes it or not, as it was told last in it.",
    ("cluster", "topic", "minute"),
    (
        _GROUP[0],
        _PARTITION[0],
        _MINUTE,
        _AT,
        Field("partitions", WHOLE, "Partitions whose log end was known"),
        Field("log_end", WHOLE, "Sum of their log ends", null="when too large"),
        Field(
            "produced",
            WHOLE,
            "Records appended since the last minute that is known",
            null="where that is more than 10 min ago",
        ),
        Field("elapsed_ms", WHOLE, "Between those two observations", null="where `produced` is"),
        _date("minute"),
    ),
    Kept.AS_MINUTES,
)

LATENESS_MINUTES = Table(
    "lateness_minutes",
    "How late a group was with a topic in a minute, as measured by the freshness service.",
    ("cluster", "group", "topic", "minute"),
    (
        *_GROUP,
        _PARTITION[0],
        _MINUTE,
        Field("at", TIME, "When it was measured last in that minute"),
        Field(
            "late_ms",
            WHOLE,
            "Age of the oldest record not consumed, of the latest partition, then; at least, where "
            "it is gone; 0 caught up",
            null="unknown",
        ),
        Field("late_max_ms", WHOLE, "The same, the greatest of the minute", null="unknown"),
        Field("unknown_partitions", WHOLE, "Partitions of which it was not known then"),
        Field(
            "lost_records",
            WHOLE,
            "Deleted before they were consumed, by then",
            null="when too many",
        ),
        Field(
            "time_to_loss_ms",
            WHOLE,
            "Until retention may delete the first record that was not consumed",
            null="when there is none, or it is unknown",
        ),
        Field("produce_rate", RATIO, "Records appended a second, then", null="unknown"),
        *_COORDINATES,
        _date("minute"),
    ),
    Kept.AS_MINUTES,
)

_OF_INCIDENT = (
    Field("opened_at", TIME, "When it began"),
    Field("closed_at", TIME, "When it ended", null="while it lasts"),
    Field("closed_by", TEXT, "OK, or why the group ended", null="while it lasts"),
    Field("worst", TEXT, "The worst status so far: WARN or ERR"),
    Field("reason", TEXT, "The reason that its root condition gives", null="when none is given"),
    Field("cause", TEXT, "The root condition's cause", null="unknown"),
    Field("peak_lag", WHOLE, "Greatest total lag that a change gave"),
    Field("lost_records", WHOLE, "Deleted unread in the course of it, at least"),
)
_EVENT = "The CloudEvent as it was published, JSON"
INCIDENT_CHANGES = Table(
    "incident_changes",
    "Changes of groups' incidents: `warren.incidents` as published, of which the topic keeps the "
    "newest. What was published twice is there twice.",
    _PLACE,
    (
        *_GROUP,
        Field("incident_id", TEXT, "The incident"),
        Field("revision", WHOLE, "Number of the change in its incident, from 1"),
        Field("at", TIME, "When it happened"),
        Field("status", TEXT, "WARN or ERR; OK, or NOTFOUND of a group that is gone, at the end"),
        Field("previous", TEXT, "The status before; OK when it opens"),
        Field("condition", TEXT, "Of which the change is: the type of its status changes"),
        Field("did", TEXT, "What that condition did: began, changed or ended"),
        *_OF_INCIDENT,
        Field("event", BYTES, _EVENT),
        *_COORDINATES,
        _date("at"),
    ),
)

NOTIFICATIONS = Table(
    "notifications",
    "An attempt to tell somebody, or the end of a delivery without one. What is published again "
    "within a day is there once.",
    ("delivery_id", "attempt", "outcome"),
    (
        *_GROUP,
        Field("delivery_id", TEXT, "Same cause, route and channel: same id"),
        Field("attempt", WHOLE, "From 1; 0 for an end without any attempt"),
        Field("outcome", TEXT, "delivered, failed, refused, given_up, suppressed, superseded"),
        Field("at", TIME, "When it ended"),
        Field("kind", TEXT, "opened, changed, repeated, resolved or acknowledged"),
        Field("status", TEXT, "The group's status"),
        Field("route", TEXT, "The route's name"),
        Field("channel", TEXT, "The channel's name"),
        Field("event_id", TEXT, "The CloudEvent that is delivered"),
        Field("incident_id", TEXT, "The incident that it is about"),
        Field("detail", TEXT, "What the receiver answered, or why"),
        Field("duration_ms", WHOLE, "Of the attempt", null="without one"),
        Field(
            "conditions",
            ArrayType(TEXT),
            "Incidents of the conditions that it tells of, where it tells of a group's",
            null="where that is incident_id alone",
        ),
        *_COORDINATES,
        _date("at"),
    ),
)

INCIDENTS = Table(
    "incidents",
    "A time during which a group was not OK: one row for each, by its newest change and the "
    "deliveries about it; of one that lasts for more than 30 days, by those of the last 30.",
    ("incident_id",),
    (
        *_GROUP,
        Field("incident_id", TEXT, "Its id"),
        Field("changes", WHOLE, "How many there were: the newest one's revision"),
        *_OF_INCIDENT,
        Field("changed_at", TIME, "When the newest change happened"),
        Field("duration_ms", WHOLE, "From its beginning to its end", null="while it lasts"),
        Field(
            "told",
            ArrayType(StructType([StructField("route", TEXT), StructField("channel", TEXT)])),
            "To whom it was delivered, in order of their names",
        ),
        Field("told_at", TIME, "When the first of them was told", null="when nobody was"),
        Field("deliveries", WHOLE, "Deliveries that arrived"),
        Field("failures", WHOLE, "Attempts that failed, and deliveries refused or given up"),
        Field("event", BYTES, f"{_EVENT}: of the newest change"),
        _date("opened_at"),
    ),
)

MEMBERSHIP_CHANGES = Table(
    "membership_changes",
    "A group's state as it was told, and what differs from the one before, if that is not older "
    "than a week. A state that was told twice counts once; a group's end is one without members.",
    ("cluster", "group", "at", "position"),
    (
        *_GROUP,
        _AT,
        Field("position", WHOLE, "In __consumer_offsets; -1 for other sources, and for an end"),
        Field("deleted", FLAG, "The group was gone"),
        Field("protocol", TEXT, "classic, consumer, share or streams", null="when deleted"),
        Field(
            "state", TEXT, "As DescribeConsumerGroups names it; empty unknown", null="when deleted"
        ),
        Field("previous_state", TEXT, "The one before", null="for the first"),
        Field("generation", WHOLE, "Generation, or group epoch", null="when not told"),
        Field("rebalances", WHOLE, "Rebalances seen so far", null="when not told"),
        Field("members", ArrayType(TEXT), "Ids, in order"),
        Field("joined", ArrayType(TEXT), "Ids that were not there before"),
        Field("left", ArrayType(TEXT), "Ids that were there before"),
        Field("idle_members", WHOLE, "Members that are assigned nothing", null="unknown"),
        Field(
            "unowned_partitions",
            WHOLE,
            "Partitions of subscribed topics without an owner",
            null="when not told",
        ),
        Field("assignment_skew", RATIO, "Most / mean partitions per member", null="unknown"),
        *_COORDINATES,
        _date("at"),
    ),
)

EVALUATIONS = Table(
    "evaluations",
    "A group as the evaluator judged it, each time: `warren.lag` as published, of which the topic "
    "keeps the newest. What was published twice is there twice.",
    _PLACE,
    (
        *_GROUP,
        Field("at", TIME, "The observation's time"),
        Field("position", WHOLE, "In __consumer_offsets; -1 for other sources"),
        Field("status", TEXT, "OK, WARN or ERR"),
        Field("is_known", FLAG, "False: UNKNOWN; status and incident are those known last"),
        Field("complete", RATIO, "Share of partitions with a full window, 0 to 1"),
        Field("total_lag", WHOLE, "Sum of the known lags, records"),
        Field("policy", TEXT, "By which policy"),
        Field("reason", TEXT, "Of the worst partition", null="when OK"),
        Field("cause", TEXT, "Whose trouble it is", null="unknown, or OK"),
        Field("incident_id", TEXT, "The incident", null="when OK"),
        Field("opened_at", TIME, "When it began", null="when OK"),
        *_COORDINATES,
        _date("at"),
    ),
    Kept.AS_EVENTS,
)

QUARANTINE = Table(
    "quarantine",
    "A record that contradicts its contract.",
    _PLACE,
    (
        *_COORDINATES,
        Field("kafka_key", BYTES, "Its key", null="for none"),
        Field("reason", TEXT, "What is wrong"),
        Field("value", BYTES, "Its value, as it is"),
        _date("kafka_timestamp"),
    ),
    Kept.AS_EVENTS,
)

TABLES: tuple[Table, ...] = (
    PARTITION_MINUTES,
    GROUP_MINUTES,
    TOPIC_MINUTES,
    LATENESS_MINUTES,
    INCIDENT_CHANGES,
    NOTIFICATIONS,
    INCIDENTS,
    MEMBERSHIP_CHANGES,
    EVALUATIONS,
    QUARANTINE,
)
