"""Metrics of the archiver."""

from prometheus_client import CollectorRegistry, Counter, Gauge

# Passes are processes that follow each other: the newest value of a gauge counts, and that of work
# which is under way ends with its process.
ARCHIVER = CollectorRegistry()

ARCHIVER_ROWS = Counter(
    "warren_archiver_rows",
    "Records written to the table of events, by topic",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_LOST = Counter(
    "warren_archiver_lost_records",
    "Records that were compacted away or deleted before they were archived, by topic; their "
    "offsets are in the table gaps",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_BEHIND = Gauge(
    "warren_archiver_behind_records",
    "Offsets between the archived end and the end of the topic, when Spark last looked",
    ("topic",),
    registry=ARCHIVER,
    multiprocess_mode="mostrecent",
)
ARCHIVER_CAUGHT_UP = Gauge(
    "warren_archiver_caught_up_timestamp_seconds",
    "When all that was in the topics was archived, Unix seconds; amid a pass, when the last "
    "batch before it began. The topics keep records for 24 h at least",
    registry=ARCHIVER,
    multiprocess_mode="mostrecent",
)
ARCHIVER_REFINED = Counter(
    "warren_archiver_refined_rows",
    "Rows added to tables of silver and gold, or replaced there, by table",
    ("table",),
    registry=ARCHIVER,
)
ARCHIVER_FAILURES = Counter(
    "warren_archiver_failures",
    "How often a pass failed, and was started again",
    registry=ARCHIVER,
)
ARCHIVER_STALLED = Gauge(
    "warren_archiver_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=ARCHIVER,
    multiprocess_mode="livemostrecent",
)
