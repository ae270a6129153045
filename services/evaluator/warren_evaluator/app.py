"""The Faust application: the stream of offset events, the table, and how they are run."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import faust
from faust.streams import Stream
from faust.types import EventT, StreamT
from mode.supervisors import CrashingSupervisor
from warren.clock import Clock
from warren.contracts.topics import FRESHNESS, GROUPS, INCIDENTS, LAG_STATUS, OFFSETS
from warren.garbage import give_back
from warren.settings import Settings
from warren_core.evaluation import RuleBook
from warren_core.objectives.limits import ObjectiveBook

from warren_evaluator.batch import BatchEvaluator, ended_groups
from warren_evaluator.faust_corrections.consumer import SafeTransport
from warren_evaluator.faust_corrections.window_table import SafeTableManager, WindowTable
from warren_evaluator.home.credentials import broker_urls, credentials
from warren_evaluator.home.incidents import read_folded
from warren_evaluator.home.preparation import TABLES, app_id
from warren_evaluator.incidents import Incidents
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.memberships import Memberships
from warren_evaluator.pipeline import Pipeline
from warren_evaluator.records import Publication, SourceRecord
from warren_evaluator.trends import Trends, believed_ms

# Of a record before compression. What the broker sees is compressed: max.message.bytes is its say.
BATCH = 100  # events in one micro-batch at most, as `benchmarks/evaluate.py` measures
BATCH_WITHIN = 0.1  # seconds that a micro-batch waits at most: a fiftieth of the pace of events
MAX_REQUEST_BYTES = 64 * 2**20


# Faust does not poll while events that it has fetched wait to be judged. aiokafka then leaves the
# group, and does not join it again before somebody polls, which nobody does without an assignment.
# That the worker is there is what heartbeats say, that it works is what `progress` watches.
NO_POLL_LIMIT = 10 * 365 * 86_400.0


# Faust keeps a thousand replayed records of each partition before it takes them in: values of some
# 30 kB, hundreds of megabytes.
_TABLE: dict[str, Any] = {"key_type": bytes, "value_type": bytes, "recovery_buffer_size": 50}


@dataclass(frozen=True, slots=True)
class Evaluator:
    """The application and what others need to look at."""

    app: faust.App
    table: WindowTable
    members: WindowTable
    lateness: WindowTable
    incidents: WindowTable
    pipeline: Pipeline
    latenesses: Latenesses

    def ready(self) -> bool:
        """The table is recovered and events are being judged."""
        return bool(self.app.tables.actives_ready) and not self.app.rebalancing


def create_evaluator(settings: Settings, partitions: int, clock: Clock) -> Evaluator:
    """`partitions` is the number that `warren.offsets` has. Raises SettingsError."""
    app = faust.App(app_id(settings), **_faust_settings(settings, partitions))
    app.transport = SafeTransport(app.conf.broker_consumer, app)
    raw: dict[str, Any] = {
        "key_type": bytes,
        "value_type": bytes,
        "key_serializer": "raw",
        "value_serializer": "raw",
    }
    table, members, lateness, open_incidents = (
        cast(WindowTable, app.Table(name, partitions=partitions, **_TABLE)) for name in TABLES
    )
    memberships = Memberships(members, clock)
    groups = app.topic(GROUPS.full_name(settings.home.topic_prefix), **raw)
    freshness = app.topic(FRESHNESS.full_name(settings.home.topic_prefix), **raw)
    source = app.topic(OFFSETS.full_name(settings.home.topic_prefix), **raw)
    changes = app.topic(LAG_STATUS.full_name(settings.home.topic_prefix), **raw)
    rules = RuleBook(settings.evaluation, settings.collector)
    publish = _publisher(app)
    trends = Trends(believed_ms(settings.collector), memberships.of)
    latenesses = Latenesses(
        lateness,
        ObjectiveBook(settings.objectives, settings.groups),
        LAG_STATUS.full_name(settings.home.topic_prefix),
        publish,
        clock,
        read_windows=table.read,
        committed=lambda: _committed(app, freshness.get_topic_name()),
        measured=trends.measured,
        membership_of=memberships.of,
        rules_for=rules.rules_for,
    )
    incidents = Incidents(
        open_incidents, INCIDENTS.full_name(settings.home.topic_prefix), publish, clock
    )
    evaluator = BatchEvaluator(
        rules.rules_for,
        settings.home.topic_prefix,
        clock,
        membership_of=memberships.of,
        lateness_of=latenesses.of,
        trends=trends,
        ownership_of=lambda cluster, group: latenesses.book.ownership_for(cluster, group),
        incident_of=incidents.state_of,
    )
    pipeline = Pipeline(
        evaluator,
        table,
        publish=publish,
        committed=lambda: _committed(app, source.get_topic_name()),
        clock=clock,
    )

    async def after_recovery() -> None:
        pipeline.gone.restore(ended_groups(table.entries()))
        give_back()

    async def lateness_recovered() -> None:
        latenesses.recovered(lateness.entries())

    async def incidents_recovered() -> None:
        topic = changes.get_topic_name()
        mine = {place.partition for place in app.consumer.assignment() if place.topic == topic}
        if lost := incidents.recovered(list(open_incidents.entries()), mine):
            incidents.remember(await asyncio.to_thread(read_folded, settings.home, lost))

    table.on_recover(after_recovery)
    open_incidents.on_recover(incidents_recovered)
    lateness.on_recover(lateness_recovered)

    @app.agent(source, name="evaluate", supervisor_strategy=CrashingSupervisor)
    async def evaluate(stream: StreamT[bytes]) -> None:
        # What was loaded and recovered until now lives on: garbage collection may pass it over.
        gc.collect()
        gc.freeze()
        await _in_batches(stream, pipeline.run)

    @app.agent(groups, name="know-members", supervisor_strategy=CrashingSupervisor)
    async def know_members(stream: StreamT[bytes]) -> None:
        await _in_batches(stream, memberships.run)

    @app.agent(freshness, name="know-lateness", supervisor_strategy=CrashingSupervisor)
    async def know_lateness(stream: StreamT[bytes]) -> None:
        await _in_batches(stream, latenesses.run)

    @app.agent(changes, name="fold-incidents", supervisor_strategy=CrashingSupervisor)
    async def fold_incidents(stream: StreamT[bytes]) -> None:
        await _in_batches(stream, incidents.run)

    return Evaluator(app, table, members, lateness, open_incidents, pipeline, latenesses)


async def _in_batches(
    stream: StreamT[bytes], run: Callable[[Sequence[SourceRecord]], Awaitable[None]]
) -> None:
    """Micro-batches, each acknowledged once it was run."""
    source = cast("Stream[bytes]", stream)  # Faust's interface lacks noack_take
    batches = source.noack_take(BATCH, BATCH_WITHIN)
    async for batch in batches:
        events = cast("list[EventT[bytes]]", batch)  # what it yields, whatever it declares
        await run([_record(event) for event in events])
        for event in events:
            event.ack()


def _faust_settings(settings: Settings, partitions: int) -> dict[str, Any]:
    return {
        "broker": broker_urls(settings.home),
        "broker_client_id": settings.home.client_id,
        "broker_credentials": credentials("home", settings.home),
        "store": "memory://",
        "datadir": Path(settings.evaluator.data_dir),
        "Table": WindowTable,
        "TableManager": SafeTableManager,
        "key_serializer": "raw",
        "value_serializer": "raw",
        "autodiscover": False,
        "web_enabled": False,
        # Topics are made, and their configuration is owned, by `warren.kafka.topics`.
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "topic_partitions": partitions,
        "table_standby_replicas": 0,
        "consumer_auto_offset_reset": "earliest",
        "consumer_max_fetch_size": 2**20,
        "stream_buffer_maxsize": 256,
        # A rebalance waits for the batch that is being worked on.
        "stream_wait_empty": True,
        "producer_acks": -1,
        "producer_linger": 0.005,
        "producer_max_batch_size": 2**20,
        "producer_max_request_size": MAX_REQUEST_BYTES,
        "producer_compression_type": "lz4",
        "producer_request_timeout": 120.0,
        "broker_commit_interval": 1.0,
        "broker_heartbeat_interval": 3.0,
        "broker_max_poll_interval": NO_POLL_LIMIT,
        "broker_rebalance_timeout": 60.0,
        "broker_request_timeout": 30.0,
        "broker_session_timeout": 10.0,
    }


def _publisher(app: faust.App) -> Any:
    async def publish(item: Publication) -> Awaitable[Any]:
        return await app.producer.send(
            *(item.topic, item.key, item.value, item.partition), None, list(item.headers)
        )

    return publish


def _committed(app: faust.App, topic: str) -> Mapping[int, int]:
    return {
        tp.partition: offset
        for tp, offset in app.monitor.tp_committed_offsets.items()
        if tp.topic == topic
    }


def _record(event: EventT[bytes]) -> SourceRecord:
    message = event.message
    return SourceRecord(
        message.topic, message.partition, message.offset, message.key, message.value
    )
