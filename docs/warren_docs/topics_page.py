"""docs/topics.md from the topic catalogue."""

from warren.contracts.topics import CATALOGUE, Topic
from warren.settings import HomeSettings

INTRODUCTION = """# Topics

Generated from `warren.contracts.topics`; do not edit.

All topics have the same number of partitions (`[home] partitions`), so that a group is in the same
partition of each; the partitioner is murmur2 over the key. Values are UTF-8 JSON, as the classes of
`warren.contracts` have it. Status changes are CloudEvents 1.0 in structured mode, with the header
`content-type: application/cloudevents+json`; their schema is `StatusChangeEvent` of the API's
`/api/v1/openapi.json`.

`warren topics create` makes what is missing, `warren topics check` compares with this page.

How many replicas they have, and how many of these must have a record before it counts as written,
is the home cluster's own default, unless `[home] replication_factor` and `min_insync_replicas` say
otherwise. `warren topics check` shows both, and warns where one lost broker would lose records.
"""


def pages() -> dict[str, str]:
    prefix = HomeSettings().topic_prefix
    rows = [
        "| topic | key | cleanup | retention | event | what |",
        "|---|---|---|---|---|---|",
        *(
            f"| `{topic.full_name(prefix)}` | `{topic.key.replace('|', chr(92) + '|')}` "
            f"| {topic.config()['cleanup.policy']} | {_retention(topic)} "
            f"| {topic.event.__name__} | {topic.summary} |"
            for topic in CATALOGUE
        ),
    ]
    return {"topics.md": INTRODUCTION + "\n" + "\n".join(rows) + "\n"}


def _retention(topic: Topic) -> str:
    return "forever" if topic.retention_ms is None else f"{topic.retention_ms // 3_600_000} h"
