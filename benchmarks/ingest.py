"""How fast the offsets topic is read, decoded and folded: the collector's own source and state.

One process takes in a topic of 3,000,000 commits of 100,000 positions (by default) with records
about groups among them, one in twenty, and prints one JSON line. What a collector would publish of
the groups is made, too, at its usual interval. With --burrow, LinkedIn's Burrow then reads the same
topic.
"""

import argparse
import json
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition as Partition
from support.burrow_process import run_burrow
from support.commit_load import CommitLoad
from support.group_load import TOPIC_ID
from support.measuring import kafka, usage
from warren import garbage
from warren.clock import SystemClock
from warren.log import configure
from warren.settings import ClusterSettings, CollectorSettings, LogSettings
from warren_collector.cluster.filters import NameFilter
from warren_collector.groups.live.groups import LiveGroups
from warren_collector.groups.recorded.records import Rejected
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.groups.reports import GroupReports
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.positions.recorded import RecordedPositions
from warren_collector.sources.offsets_topic import OffsetsTopicSource
from warren_collector.sources.shards import OffsetsTopicShards
from warren_local.server import free_port


def main() -> None:
    arguments = _arguments()
    configure(LogSettings(level="warning"))  # the only line on standard output is the result
    load = CommitLoad(arguments.commits, arguments.positions, group_share=arguments.group_records)
    with kafka(arguments.bootstrap) as bootstrap:
        ends = load.ensure(bootstrap)
        if arguments.burrow:
            load.ensure_data_topics(bootstrap)
        result = ingest(load, bootstrap, ends)
        if arguments.burrow:
            result |= compare(arguments.burrow, load, bootstrap, ends, result)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--commits", type=int, default=3_000_000)
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument(
        "--group-records", type=float, default=0.05, help="share of records about groups"
    )
    parser.add_argument("--burrow", type=Path, help="binary of LinkedIn's Burrow")
    return parser.parse_args()


def ingest(load: CommitLoad, bootstrap: str, ends: list[int]) -> dict[str, Any]:
    """Reads the whole topic as a collector does that had been stopped when it was empty."""
    group = f"warren-bench-{uuid.uuid4().hex[:8]}"
    settings = ClusterSettings(bootstrap=bootstrap, offsets_topic=load.topic)
    _store_beginning(bootstrap, group, load)
    accepts = NameFilter(settings.groups_allow, settings.groups_deny).accepts
    states = GroupStates(accepts)
    positions = RecordedPositions(states, accepts)
    source = OffsetsTopicSource("bench", "clusters.bench", settings, group, positions.release)
    shards = OffsetsTopicShards(source.partitions, lambda: source.partition_count)
    reports = _reports(states, positions, LiveGroups([], shards, lambda: None))
    commits = records = events = 0
    while not len(batch := source.poll(0.2)):
        pass
    garbage.collect_seldom()
    garbage.settle()
    started, cpu = time.perf_counter(), usage().cpu_s
    next_tick = started + CollectorSettings().interval
    while records < sum(ends):
        records += len(batch)
        commits += positions.fold(batch).commits
        if time.perf_counter() >= next_tick:
            events += _tick(reports, source)
            next_tick += CollectorSettings().interval
        batch = source.poll(0.2)
    events += _tick(reports, source)
    elapsed, cpu = time.perf_counter() - started, usage().cpu_s - cpu
    source.close()
    if commits != load.commits:
        sys.exit(f"{commits} commits folded of {load.records} records")
    return {
        "benchmark": "ingest",
        "records": load.records,
        "commits": commits,
        "group_records": records - commits,
        "group_events": events,
        "positions": load.positions,
        "seconds": round(elapsed, 2),
        "records_per_s": round(load.records / elapsed),
        "commits_per_s": round(commits / elapsed),
        "cpu_us_per_record": round(cpu / load.records * 1e6, 2),
        "cpu_us_per_commit": round(cpu / commits * 1e6, 2),
        "rss_mb": round(usage().peak_rss_mb),
    }


def _reports(states: GroupStates, positions: RecordedPositions, live: LiveGroups) -> GroupReports:
    topic_ids = TopicIds(lambda _: {}, SystemClock())
    topic_ids.learn(TOPIC_ID, "warren-bench-data-0")
    return GroupReports("bench", states, positions.groups, topic_ids, live)


def _tick(reports: GroupReports, source: OffsetsTopicSource) -> int:
    """Decodes what has changed and makes the events, as many as are returned."""
    rejected: list[Rejected] = []
    due = reports.due({p.number: p.position for p in source.partitions}, 0, rejected)
    if rejected:
        sys.exit(f"malformed: {rejected[0].problem}")
    reports.published(due)
    return len(due)


def _store_beginning(bootstrap: str, group: str, load: CommitLoad) -> None:
    """So that all commits count, as they do while a collector runs."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    beginning = [Partition(load.topic, number, 0) for number in range(load.partitions)]
    deadline = time.monotonic() + 60
    while True:
        try:
            consumer.commit(offsets=beginning, asynchronous=False)
            break
        except KafkaException as error:  # a broker that has just started elects coordinators
            if time.monotonic() > deadline:
                raise SystemExit(f"cannot commit: {error.args[0].str()}") from None
            time.sleep(0.5)
    consumer.close()


def compare(
    binary: Path, load: CommitLoad, bootstrap: str, ends: list[int], own: dict[str, Any]
) -> dict[str, Any]:
    burrow = run_burrow(binary, bootstrap, load, ends, free_port())
    rate = load.commits / burrow.elapsed_s
    cpu = burrow.usage.cpu_s / load.commits * 1e6
    return {
        "burrow_seconds": round(burrow.elapsed_s, 2),
        "burrow_commits_per_s": round(rate),
        "burrow_cpu_us_per_commit": round(cpu, 2),
        "burrow_rss_mb": round(burrow.usage.peak_rss_mb),
        "burrow_stale_positions": burrow.stale_positions,
        "times_faster": round(own["commits_per_s"] / rate, 1),
        "times_less_cpu": round(cpu / own["cpu_us_per_commit"], 1),
    }


if __name__ == "__main__":
    main()
