"""CloudEvents' SDK for npm: whether what Warren sends is an event to it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from confluent_kafka import Message

READ = Path(__file__).parent / "cloudevents" / "read.cjs"
SDK = Path(__file__).parents[2] / ".warren/cloudevents/node_modules"  # by `make cloudevents`
Attributes = dict[str, Any]


def npm_is_here() -> bool:
    return shutil.which("node") is not None and SDK.is_dir()


def read_by_npm(
    binding: Literal["kafka", "http"], messages: Iterable[tuple[Mapping[str, str], bytes]]
) -> list[Attributes]:
    """The event of each message, given its headers and body; {"problem": …} where it is none."""
    lines = [
        json.dumps({"binding": binding, "headers": headers, "value": value.decode()})
        for headers, value in messages
    ]
    environment = {**os.environ, "NODE_PATH": str(SDK)}
    done = subprocess.run(
        ["node", str(READ)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def headers_of(message: Message) -> dict[str, str]:
    return {name: (value or b"").decode() for name, value in message.headers() or []}
