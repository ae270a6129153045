"""A `warren-collector` process with default settings."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from support.service_process import ServiceProcess, running_service


def running_collector(bootstrap: str, offsets_topic: str) -> AbstractContextManager[ServiceProcess]:
    return running_service(
        "collector",
        f"""
[home]
bootstrap = "{bootstrap}"
topic_prefix = "warren-bench."
[clusters.bench]
bootstrap = "{bootstrap}"
offsets_topic = "{offsets_topic}"
[collector]
group_id = "warren-bench-{time.time_ns()}"
""",
    )
