"""How fast the offsets topic is read, decoded and folded: the collector's own source and state.

One process takes in a topic of 3,000,000 commits of 100,000 positions (by default) and prints one
JSON line.
"""

import argparse
import json
import time
import uuid
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition as Partition
from support.commit_load import CommitLoad
from support.measuring import kafka, usage
from warren import garbage
from warren.log import configure
from warren.settings import ClusterSettings, LogSettings
from warren_collector.cluster.filters import NameFilter
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.positions.recorded import RecordedPositions
from warren_collector.sources.offsets_topic import OffsetsTopicSource


def main() -> None:
    arguments = _arguments()
    configure(LogSettings(level="warning"))  # the only line on standard output is the result
    load = CommitLoad(arguments.commits, arguments.positions)
    with kafka(arguments.bootstrap) as bootstrap:
        load.ensure(bootstrap)
        result = ingest(load, bootstrap)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--commits", type=int, default=3_000_000)
    parser.add_argument("--positions", type=int, default=100_000)
    return parser.parse_args()


def ingest(load: CommitLoad, bootstrap: str) -> dict[str, Any]:
    """Reads the whole topic as a collector does that had been stopped when it was empty."""
    group = f"warren-bench-{uuid.uuid4().hex[:8]}"
    settings = ClusterSettings(bootstrap=bootstrap, offsets_topic=load.topic)
    _store_beginning(bootstrap, group, load)
    accepts = NameFilter(settings.groups_allow, settings.groups_deny).accepts
    positions = RecordedPositions(GroupStates(accepts), accepts)
    source = OffsetsTopicSource("bench", "clusters.bench", settings, group, positions.release)
    commits = 0
    while not len(batch := source.poll(0.2)):
        pass
    garbage.collect_seldom()
    garbage.settle()
    started, cpu = time.perf_counter(), usage().cpu_s
    while commits < load.commits:
        commits += positions.fold(batch).commits
        batch = source.poll(0.2)
    elapsed, cpu = time.perf_counter() - started, usage().cpu_s - cpu
    source.close()
    return {
        "benchmark": "ingest",
        "commits": commits,
        "positions": load.positions,
        "seconds": round(elapsed, 2),
        "commits_per_s": round(commits / elapsed),
        "cpu_us_per_commit": round(cpu / commits * 1e6, 2),
        "rss_mb": round(usage().peak_rss_mb),
    }


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


if __name__ == "__main__":
    main()
