"""What each release wrote is read by today's code: one record of each topic, states of evaluators.

With WARREN_TEST_RECORD=1 the file of the version that is built here is written, with the records of
the newest one. Git keeps it.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from shared.contract_examples import RECORDS, RELEASES, example
from support.offset_events import Judge, commits
from warren.contracts import CATALOGUE, FreshnessEvent, GroupEvent
from warren.entry import own_version
from warren_core.judgement import membership, state_codec
from warren_core.objectives import group_record

TODAY = RELEASES / f"{own_version()}.json"
STATES = {"group": state_codec, "members": membership, "lateness": group_record}


def written() -> dict[str, Any]:
    judge = Judge()
    judge.all(commits(115, 116, 117, 0))
    assert judge.state is not None
    members = membership.membership_after(example(GroupEvent), None)
    lateness = group_record.after_event(None, example(FreshnessEvent), 7, [], lambda: None)
    assert lateness is not None
    states = {
        "group": state_codec.encode(judge.state),
        "members": membership.encode(members),
        "lateness": group_record.encode(lateness),
    }
    return {
        "records": RECORDS,
        "states": {name: base64.b64encode(value).decode() for name, value in states.items()},
    }


if os.environ.get("WARREN_TEST_RECORD"):
    TODAY.write_text(json.dumps(written(), indent=1, sort_keys=True) + "\n")


def lacks(new: Any, old: Any) -> bool:
    """Whether something that a release wrote is gone, at any depth."""
    if isinstance(old, dict):
        return any(name not in new or lacks(new[name], old[name]) for name in old)
    if isinstance(old, list):
        return len(new) != len(old) or any(map(lacks, new, old))
    return bool(new != old)


def test_this_version_is_kept() -> None:
    assert TODAY.exists(), "write it with WARREN_TEST_RECORD=1, and commit it"


@pytest.mark.parametrize("file", sorted(RELEASES.glob("*.json")), ids=lambda file: file.stem)
def test_contracts_only_grow_and_states_are_read(file: Path) -> None:
    kept = json.loads(file.read_text())
    for topic in CATALOGUE:
        if old := kept["records"].get(topic.name):
            new = json.loads(topic.event.from_bytes(json.dumps(old).encode()).to_bytes())
            assert not lacks(new, old), topic.name
    for name, codec in STATES.items():
        value = base64.b64decode(kept["states"][name])
        read = codec.decode(value)
        if name != "group":  # test_state_codec.py has that one
            assert codec.decode(value.replace(b"{", b'{"new":1,', 1)) == read
