"""Records that other versions and other clocks write, through a real broker: archived as they are,
and no reader of the lake stumbles over them."""

import json
from pathlib import Path

import pytest
from support.archive_events import offset_event, sample
from support.archive_lab import Archive, events_between
from support.few_tables import OF_OFFSETS, only
from support.other_readers import assert_others_find_the_same
from warren.contracts.topics import INCIDENTS, OFFSETS
from warren_archiver.silver.catalogue import INCIDENT_CHANGES

pytestmark = pytest.mark.timeout(1800)
YEAR_99999_MS = 3_093_527_980_800_000
"""A broker takes no record that is dated more than an hour ahead."""


def test_what_is_dated_in_the_year_99999_is_archived_and_every_reader_opens_the_tables(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, *OF_OFFSETS, INCIDENT_CHANGES)
    far = sample(INCIDENTS.event, full=True) | {"time": "99999-01-01T00:00:00Z"}
    near = sample(INCIDENTS.event, full=True) | {"time": "9999-12-30T23:59:59.999Z"}
    near["data"] |= {"cluster": "prod", "group": "g"}  # those of its key
    late = offset_event("g", 1).model_copy(update={"observed_at": YEAR_99999_MS})
    lab.send([*events_between(0, 1), late.to_bytes()])
    lines = "a line\u2028a paragraph\u2029"  # in the log of commits, among statistics
    lab.send([offset_event(lines, 1).to_bytes()], group=lines)
    lab.topic = INCIDENTS
    lab.create(INCIDENTS)
    lab.send([json.dumps(event).encode() for event in (far, near)])
    lab.whole_pass(OFFSETS)
    expected = {
        "bronze/events": 5,
        "silver/quarantine": 2,  # what every other reader refuses, too
        "silver/incident_changes": 1,
        "silver/group_minutes": 2,
    }
    lake = Path(lab.settings.archiver.path)
    rows = {name: assert_others_find_the_same(lab.spark, str(lake / name)) for name in expected}
    assert rows == expected
