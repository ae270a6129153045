"""The tables of replays: what each run has found."""

from warren_archiver.lake.table import DAY, TEXT, TIME, WHOLE, Field, Kept, Table

_RUN = Field("run", TEXT, "The run")
_DATE = Field("date", DAY, "UTC day of the run")

RUNS = Table(
    "runs",
    "Replays that were made.",
    ("run",),
    (
        _RUN,
        Field("made_at", TIME, "When"),
        Field("from", TIME, "Beginning of the period"),
        Field("to", TIME, "Its end"),
        Field("changes", TEXT, "Settings that were other ones, as JSON"),
        Field("events", WHOLE, "Offset events that were judged"),
        Field("published", WHOLE, "Incidents that were told"),
        Field("replayed", WHOLE, "Incidents that would have been"),
        Field("published_flaps", WHOLE, "Of those told, over within 5 min"),
        Field("replayed_flaps", WHOLE, "Likewise"),
        _DATE,
    ),
    Kept.AS_MINUTES,
)

REPLAYED_INCIDENTS = Table(
    "incidents",
    "Incidents of a run: as published, and as they would have been.",
    ("run", "cluster", "group", "kind", "incident_id", "published_incident_id"),
    (
        _RUN,
        Field("cluster", TEXT, "The cluster's name"),
        Field("group", TEXT, "The consumer group"),
        Field("kind", TEXT, "raised, missed, sooner, later or same"),
        Field("incident_id", TEXT, "Its id", null="when missed"),
        Field("opened_at", TIME, "When it would have begun", null="when missed"),
        Field("closed_at", TIME, "When it would have ended", null="while it lasts, or when missed"),
        Field("worst", TEXT, "WARN or ERR", null="when missed"),
        Field("reason", TEXT, "The first reason", null="when missed"),
        Field("published_incident_id", TEXT, "The id that was told", null="when raised"),
        Field("published_opened_at", TIME, "When that began", null="when raised"),
        Field("published_closed_at", TIME, "When it ended", null="while it lasts, or when raised"),
        Field("sooner_ms", WHOLE, "How much sooner, negative for later; 0 for raised and missed"),
        _DATE,
    ),
    Kept.AS_MINUTES,
)
TABLES = (RUNS, REPLAYED_INCIDENTS)
