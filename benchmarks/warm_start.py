"""How soon an evaluator that was killed judges again, and what it keeps in memory.

Its tables (windows, members, lateness) are written as evaluators write them, until each changelog
is as long as the cleaner leaves it: what it need not clean, and active segments half full. The
figures of an evaluator without groups, started before, are taken off. Prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from evaluate import START_MS, Worker
from support.measuring import embedded_kafka
from support.service_process import ServiceProcess, running_service
from warren.contracts import GroupEvent, GroupMember
from warren_core.judgement.membership import encode, membership_after
from warren_evaluator.home.preparation import CONFIG, LATENESS, MEMBERS, TABLE, changelog_name

APP_ID = "warren-evaluator"
CONFIGURED = '[home]\nbootstrap = "{bootstrap}"\npartitions = {topic_partitions}\n'
TOPIC_PARTITIONS = 8
KINDS = 100  # groups that differ; others have the values of one of these
LOOKS = 12  # the windows are full then
MEMBERS_EACH = 4
WRITTEN_EVERY_MS = 10_000  # a group's entry, by default; its members' hardly ever


class Start(NamedTuple):
    seconds: float
    cpu_s: float
    rss_mb: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000, help="of all groups")
    parser.add_argument("--each", type=int, default=100, help="partitions of a group")
    arguments = parser.parse_args()
    groups = arguments.partitions // arguments.each
    with embedded_kafka() as broker:
        config = CONFIGURED.format(bootstrap=broker.bootstrap, topic_partitions=TOPIC_PARTITIONS)
        empty = _start(config)  # makes the topics, too
        started = time.monotonic()
        logs = _write(broker.bootstrap, broker.options.data_dir, groups, arguments.each)
        written = time.monotonic() - started
        warm = _start(config)
    result = {
        "benchmark": "warm_start",
        "groups": groups,
        "partitions": groups * arguments.each,
        "changelog_mb": logs,
        "written_in_s": round(written, 1),
        "empty": empty._asdict(),
        "warm": warm._asdict(),
        "seconds_more": round(warm.seconds - empty.seconds, 1),
        "cpu_s_more": round(warm.cpu_s - empty.cpu_s, 1),
        "bytes_per_partition": round(
            (warm.rss_mb - empty.rss_mb) * 2**20 / (groups * arguments.each)
        ),
    }
    print(json.dumps(result))


def _start(config: str) -> Start:
    """Until it is ready to judge."""
    started = time.monotonic()
    with running_service("evaluator", config) as process:
        process.until(process.is_ready, "the evaluator is ready", every=0.1)
        seconds = time.monotonic() - started
        used = process.usage()
        return Start(round(seconds, 1), round(used.cpu_s, 1), _rss_mb(process), used.peak_rss_mb)


def _rss_mb(process: ServiceProcess) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    resident = next(line for line in status if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1024


def _write(bootstrap: str, data: Path, groups: int, each: int) -> dict[str, float]:
    """Megabytes of each changelog."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "partitioner": "murmur2_random",
            "compression.type": "lz4",  # as evaluators do
            "linger.ms": 50,
            "batch.size": 2**20,
        }
    )
    return {
        table: round(_fill(producer, data, changelog_name(APP_ID, table), values, groups), 1)
        for table, values in _tables(each).items()
    }


def _fill(
    producer: Producer, data: Path, topic: str, values: Sequence[bytes], groups: int
) -> float:
    """Value after value of all groups, as long as the cleaner would leave them."""
    _round(producer, topic, values, groups)
    live = _size_mb(data, topic)
    active = TOPIC_PARTITIONS * int(CONFIG["segment.bytes"]) / 2 / 2**20
    steady = live / (1 - float(CONFIG["min.cleanable.dirty.ratio"])) + active
    rounds = round(int(CONFIG["segment.ms"]) / 2 / WRITTEN_EVERY_MS)
    for _ in range(1 if topic.endswith(f"{MEMBERS}-changelog") else rounds):
        if _size_mb(data, topic) >= steady:
            break
        _round(producer, topic, values, groups)
    return _size_mb(data, topic)


def _round(producer: Producer, topic: str, values: Sequence[bytes], groups: int) -> None:
    for number in range(groups):
        while True:
            try:
                producer.produce(topic, values[number % len(values)], _key(number))
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(300) == 0


def _key(number: int) -> bytes:
    return f"bench|group-{number}".encode()


def _size_mb(data: Path, topic: str) -> float:
    return sum(log.stat().st_size for log in data.rglob(f"{topic}-*/*.log")) / 2**20


def _tables(each: int) -> dict[str, list[bytes]]:
    """Values of KINDS groups, by table."""
    worker = Worker("burrow", KINDS, each, bad=False, measured=True)
    for _ in range(LOOKS):
        worker.step()
    members = [_members(number, each) for number in range(KINDS)]
    kept = worker.windows.values(), worker.lateness.values(), members
    return dict(zip((TABLE, LATENESS, MEMBERS), map(list, kept), strict=True))


def _members(number: int, each: int) -> bytes:
    members = [
        GroupMember(
            member_id=f"billing-app-{number}-{member}-5f3c2f0e-1a55-4f7a-9d0c-6a1f0b9e7c{member:02}",
            client_id=f"billing-app-{member}",
            host=f"10.0.{number % 256}.{member}",
            assignment={"orders": list(range(member, each, MEMBERS_EACH))},
        )
        for member in range(MEMBERS_EACH)
    ]
    event = GroupEvent(
        cluster="bench",
        group=f"group-{number}",
        observed_at=START_MS,
        position=-1,
        protocol="classic",
        state="Stable",
        protocol_type="consumer",
        members=members,
    )
    return encode(membership_after(event, None))


if __name__ == "__main__":
    main()
