"""`warren-collector` as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warren.settings import Settings


@contextmanager
def collector_process(
    settings: Settings, cluster_name: str, directory: Path
) -> Iterator[subprocess.Popen[str]]:
    """`warren-collector` as a user runs it."""
    config = directory / "warren.toml"
    home, cluster, collector = settings.home, settings.clusters[cluster_name], settings.collector
    config.write_text(
        f"""
[home]
bootstrap = "{home.bootstrap}"
topic_prefix = "{home.topic_prefix}"
partitions = {home.partitions}
[clusters.{cluster_name}]
bootstrap = "{cluster.bootstrap}"
offsets_topic = "{cluster.offsets_topic}"
groups_allow = {json.dumps(cluster.groups_allow)}
[collector]
group_id = "{collector.group_id}"
interval = {collector.interval}
heartbeat = {collector.heartbeat}
"""
    )
    command = [sys.executable, "-m", "warren_collector", "--config", str(config)]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("WARREN_")}
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()
