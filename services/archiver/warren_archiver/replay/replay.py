"""`warren replay`: archived offset events judged again, and what would have been told.

A period [start, end) is judged by other settings, or by the same. Events of some time before it
fill the windows; what is said of that time does not count. By the settings of the time the
incidents are those that were published, under the same ids, but for what the evaluator knew beside
the offset events: where freshness found that only a transaction's end was left.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from pydantic import ValidationError
from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from pyspark.sql.types import StructField, StructType
from warren.clock import Clock
from warren.contracts import STATUS_CHANGED, GroupIncidentEvent
from warren.contracts.topics import LAG_STATUS, OFFSETS, Topic
from warren.errors import SettingsError
from warren.refused_words import words_of
from warren.settings import (
    EvaluationOverride,
    EvaluationSettings,
    Settings,
)
from warren.words import grouped, moment

from warren_archiver.errors import NothingArchived
from warren_archiver.judging.groups import End, Evaluation, Values, judged, key_of
from warren_archiver.lake.contract_view import accepted
from warren_archiver.lake.lake import Lake, ensure
from warren_archiver.lake.table import TEXT, WHOLE, Table
from warren_archiver.replay.incidents import (
    Change,
    Incident,
    Pair,
    incidents,
    paired,
    renamed,
)
from warren_archiver.replay_catalogue import REPLAYED_INCIDENTS, RUNS
from warren_archiver.report.period import Period, group_matcher as group_matcher
from warren_archiver.silver.catalogue import INCIDENTS
from warren_archiver.steps import Step, Tell, untold

SETTLE_MS = 5_000
"""The default period ends so much before the newest event: what was told of that time may not be
archived yet."""
WARM_UP_MS = 6 * 3_600_000
"""By default: ten commits, but of groups that commit more rarely than every half hour."""
_DAY_MS = 86_400_000  # clocks of collectors and brokers may differ by so much
_SOON_MS = 60_000  # after what it tells of, an event is appended
_CAUGHT_UP_MS = 7 * _DAY_MS  # or so long after it, by an evaluator that was down
EVENTS_OF_A_TASK = 200_000
"""About half a minute: that is how often it is known how far a replay is."""
_DATE = re.compile(r"/date=(\d{4}-\d\d-\d\d)/")
_ONE_ID = 2**48  # records that a topic will never have
_CHANGE = StructType(
    [
        StructField("cluster", TEXT),
        StructField("group", TEXT),
        StructField("at", WHOLE),
        StructField("status", TEXT),
        StructField("reason", TEXT),
        StructField("opened_at", WHOLE),
    ]
)


@dataclass(frozen=True, slots=True)
class Replay:
    """What was told in a period, and what would have been."""

    period: Period
    warm_up_ms: int
    events: int
    """Offset events that were judged, those before the period included."""
    published: list[Incident]
    replayed: list[Incident]
    pairs: list[Pair]

    def count(self, kind: str) -> int:
        """Of pairs: raised, missed, sooner, later or same."""
        return sum(pair.kind == kind for pair in self.pairs)

    @property
    def flaps(self) -> tuple[int, int]:
        """Incidents that were over within 5 min: as published, and as replayed."""
        return sum(one.is_flap for one in self.published), sum(one.is_flap for one in self.replayed)


class Archived:
    """Offset events of a period and its warm-up, and what was published; may be judged several
    times."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        period: Period,
        groups: str = "",
        warm_up_ms: int = WARM_UP_MS,
        tell: Tell = untold,
    ) -> None:
        """`groups`: a regular expression (RE2, as `warren report` takes it) that is searched for in
        their names.

        Raises NothingArchived, and SettingsError for what is none.
        """
        self._spark = spark
        self._settings = settings
        self._lake = Lake.at(settings.archiver.path)
        self._matches = group_matcher(groups) if groups else None
        self.period = period
        self.warm_up_ms = warm_up_ms
        self._tell = tell
        tell(Step("replay", "counting events", 0, 1))
        self._events = self._rows(OFFSETS)
        self.count = self._events.count()
        if not self.count:
            self._matches = None
            if groups and not self._rows(OFFSETS).isEmpty():
                raise NothingArchived(f"no group of that time matches {groups!r} (--group)")
            raise NothingArchived(
                f"no offset event of that time has been archived in {self._lake.events}"
            )

    def published(self) -> list[Incident]:
        """Status changes that were archived, and incidents that were open before them."""
        rows = self._rows(LAG_STATUS, _CAUGHT_UP_MS)
        changes = accepted(rows, LAG_STATUS).where(
            (F.col("type") == STATUS_CHANGED) & ~F.col("deleted")
        )
        found = changes.select(
            "data.cluster",
            "data.group",
            F.unix_millis("time").alias("at"),
            "data.status",
            "data.reason",
            "data.opened_at",
        ).distinct()
        told = [_published(*row) for row in found.collect()]
        told += self._open_before({change.key for change in told})
        return incidents(told, self.period.start_ms, self.period.end_ms)

    def judged(self, settings: Settings) -> list[Incident]:
        """What would have been told by these settings."""
        book = (settings.evaluation, settings.collector)
        self._tell(Step("judging", f"{grouped(self.count)} events", 0, 1))
        tasks = -(-self.count // EVENTS_OF_A_TASK)
        rows = judged(self._events, book, _CHANGE, _change_row, least_tasks=tasks).collect()
        self._tell(Step("judging", "", 1, 1))
        changes = [Change((row[0], row[1]), *row[2:]) for row in rows]
        return incidents(changes, self.period.start_ms, self.period.end_ms)

    def compared(self, settings: Settings) -> Replay:
        """What was published against what these settings would have told."""
        period, published = self.period, self.published()
        replayed = renamed(self.judged(settings), published, period.start_ms)
        pairs = paired(published, replayed, period.end_ms)
        return Replay(period, self.warm_up_ms, self.count, published, replayed, pairs)

    def _rows(self, topic: Topic, late_ms: int = _SOON_MS) -> DataFrame:
        """Of the period and its warm-up, appended by `late_ms` after it, in one order of offsets
        though the topic was made anew."""
        table = self._lake.read(self._spark, self._lake.events)
        if table is None:
            raise NothingArchived(f"nothing has been archived in {self._lake.events}")
        first, last = self.period.start_ms - self.warm_up_ms, self.period.end_ms + late_ms
        name = topic.full_name(self._settings.home.topic_prefix)
        at = F.unix_millis("timestamp")
        rows = table.where(
            (F.col("topic") == name)
            & F.col("date").between(_day(first - _DAY_MS), _day(last + _DAY_MS))
            & (at >= first)
            & (at < last)
        )
        if self._matches is not None:
            rows = rows.where(F.col("key").isin(_keys_of(rows, self._matches)))
        ids = rows.groupBy("topic_id").agg(F.min("timestamp").alias("at")).orderBy("at").collect()
        if len(ids) < 2:
            return rows
        before = {row["topic_id"]: number * _ONE_ID for number, row in enumerate(ids)}
        pairs = [F.lit(value) for pair in before.items() for value in pair]
        shift = F.create_map(*pairs)[F.col("topic_id")]
        return rows.withColumn("offset", F.col("offset") + shift)

    def _open_before(self, known: set[tuple[str, str]]) -> list[Change]:
        """Statuses of groups that no change in the period tells of: from the incidents in silver,
        as far as there are any."""
        table = self._lake.read(self._spark, self._lake.silver(INCIDENTS.name))
        if table is None:
            return []
        first = self.period.start_ms - self.warm_up_ms
        opened, closed = F.unix_millis("opened_at"), F.unix_millis("closed_at")
        rows = table.where((opened < first) & (closed.isNull() | (closed >= self.period.end_ms)))
        found = [
            GroupIncidentEvent.from_bytes(row[0]).data for row in rows.select("event").collect()
        ]
        return [
            Change(
                (data.cluster, data.group), each.since, each.worst, each.change.reason, each.since
            )
            for data in found
            for each in data.conditions
            if each.type == STATUS_CHANGED
            and each.since < first
            and (each.until is None or each.until >= self.period.end_ms)
            and (data.cluster, data.group) not in known
            and (self._matches is None or self._matches(data.group))
        ]


def _keys_of(rows: DataFrame, matches: Callable[[str], bool]) -> list[bytes]:
    """Of the groups whose names match: an expression means the same to all commands, and Java's
    are others."""
    keys = [bytes(row[0]) for row in rows.select("key").distinct().collect() if row[0] is not None]
    named = ((key, key_of(key)) for key in keys)
    return [key for key, group in named if group is not None and matches(group[1])]


def newest_ms(spark: SparkSession, settings: Settings, now_ms: int) -> int:
    """Append time of the newest archived offset event; days are read from the newest on, until one
    has any. Raises NothingArchived."""
    lake = Lake.at(settings.archiver.path)
    table = lake.read(spark, lake.events)
    if table is not None:
        name = OFFSETS.full_name(settings.home.topic_prefix)
        past = (F.col("topic") == name) & (F.unix_millis("timestamp") <= now_ms)
        # The newest first, by the names of files: no row is read.
        found = (_DATE.search(file) for file in table.inputFiles())
        for day in sorted({match[1] for match in found if match}, reverse=True):
            if day <= _day(now_ms):
                rows = table.where(past & (F.col("date") == day))
                row = rows.agg(F.unix_millis(F.max("timestamp")).alias("at")).first()
                if row is not None and row["at"] is not None:
                    return int(row["at"])
    raise NothingArchived(f"no offset event has been archived in {lake.events}")


def _day(ms: int) -> str:
    return datetime.fromtimestamp(max(ms, 0) / 1000, UTC).date().isoformat()


def _published(
    cluster: str, group: str, at: int, status: str, reason: str | None, opened_at: int
) -> Change:
    """A change that ends an incident names it, too."""
    if status in ("OK", "NOTFOUND"):
        return Change((cluster, group), at, None, reason, None)
    return Change((cluster, group), at, status, reason, opened_at)


def _change_row(told: Evaluation | End) -> Values | None:
    """In the order of `_CHANGE`; None where nothing has changed."""
    event = told.event
    if isinstance(told, End):
        if told.opened_at is None:
            return None
        return event.cluster, event.group, event.observed_at, None, None, None
    brief = told.brief
    if brief.status is brief.previous:
        return None
    status = brief.status.name
    opened_at = brief.state.opened_at
    return event.cluster, event.group, event.observed_at, status, brief.reason, opened_at


_PREFIX = "evaluation."


def changed(settings: Settings, assignments: Sequence[str], policy: str | None = None) -> Settings:
    """With `evaluation.<name>=<value>` instead; values are TOML's, or plain text.

    A policy is that of all groups, whatever overrides say, and stands above the assignments.

    Raises SettingsError.
    """
    values = settings.evaluation.model_dump()
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        field = name.strip().removeprefix(_PREFIX)
        if not separator or not name.strip().startswith(_PREFIX) or field not in values:
            raise SettingsError(
                "--set",
                f"{assignment!r} is not evaluation.<name>=<value>, with a name that [evaluation] "
                f"has: {', '.join(values)}",
            )
        values[field] = _value(text.strip())
    if policy is not None:
        values |= {"policy": policy, "overrides": _without_policies(values["overrides"])}
    try:
        evaluation = EvaluationSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        option = (
            "--policy" if policy is not None and where == "policy" else f"--set {_PREFIX}{where}"
        )
        raise SettingsError(option, words_of(first)) from None
    return settings.model_copy(update={"evaluation": evaluation})


def _without_policies(overrides: object) -> object:
    """What else they change is left; what was assigned may be anything."""
    if not isinstance(overrides, list):
        return overrides
    names = EvaluationOverride.model_fields.keys() - {"clusters", "groups", "topics", "policy"}
    others = [{**each, "policy": None} for each in overrides if isinstance(each, dict)]
    return [each for each in others if any(each.get(name) is not None for name in names)]


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def write(
    spark: SparkSession, lake: Lake, replay: Replay, changes: Mapping[str, object], clock: Clock
) -> str:
    """Adds a run to the tables; its name."""
    now = moment(clock.now_ms())
    run = now.strftime("%Y%m%dT%H%M%S.%fZ")
    flaps, replayed_flaps = replay.flaps
    period = replay.period
    told = (len(replay.published), len(replay.replayed), flaps, replayed_flaps)
    row = (run, now, _moment(period.start_ms), _moment(period.end_ms), json.dumps(changes))
    _append(spark, lake, RUNS, [(*row, replay.events, *told, now.date())])
    _append(
        spark, lake, REPLAYED_INCIDENTS, [row_of(run, pair, now.date()) for pair in replay.pairs]
    )
    return run


def row_of(run: str, pair: Pair, day: date) -> tuple[object, ...]:
    """Of the incidents of a run."""
    published, replayed = _times(pair.published), _times(pair.replayed)
    one = pair.replayed
    said = (one.worst, one.reason) if one is not None else (None, None)
    return (run, *pair.group, pair.kind, *replayed, *said, *published, pair.sooner_ms, day)


def _append(spark: SparkSession, lake: Lake, table: Table, rows: list[tuple[object, ...]]) -> None:
    path = lake.replay(table.name)
    ensure(spark, path, table)
    if rows:
        frame = spark.createDataFrame(rows, table.schema).coalesce(1)
        frame.write.format("delta").mode("append").save(path)


def _times(incident: Incident | None) -> tuple[object, ...]:
    if incident is None:
        return None, None, None
    return incident.incident_id, _moment(incident.opened_at), _moment(incident.closed_at)


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else moment(ms)
