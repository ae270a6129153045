"""One event of each contract, with values that are seldom: as the newest release keeps them."""

import json
from pathlib import Path
from typing import TypeVar

from warren.contracts import CATALOGUE, Event

RELEASES = Path(__file__).parent / "releases"
_NEWEST = max(RELEASES.glob("*.json"), key=lambda file: [*map(int, file.stem.split("."))])
RECORDS = json.loads(_NEWEST.read_text())["records"]
EVENTS: list[Event] = [
    topic.event.from_bytes(json.dumps(RECORDS[topic.name]).encode()) for topic in CATALOGUE
]
IDS = [type(event).__name__ for event in EVENTS]
Kind = TypeVar("Kind", bound=Event)


def example(kind: type[Kind]) -> Kind:
    return next(event for event in EVENTS if isinstance(event, kind))
