"""What `warren archive check` ends with."""

from __future__ import annotations

import json
from datetime import date

import pytest
from warren_archiver.check.all_checks import AllChecks
from warren_archiver.check.table_check import TableCheck
from warren_archiver.check.topic_check import TopicCheck


def _topic(*differences: str, behind: int = 0) -> TopicCheck:
    return TopicCheck("warren.lag", 10, 10, 0, behind, differences=list(differences))


def _table(*differences: str) -> TableCheck:
    return TableCheck("silver/positions", 10, 0, 0, 0, list(differences))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (AllChecks([_topic()], [_table()]), 0),
        (AllChecks([_topic("lost")], [_table()]), 1),
        (AllChecks([_topic()], [_table("missing")]), 1),
        (AllChecks([_topic(behind=1)], [_table()]), 1),
        (AllChecks([_topic()], [], "silver is taking in events"), 3),
        (AllChecks([_topic("lost")], [], "silver is taking in events"), 1),
    ],
)
def test_a_difference_counts_more_than_what_could_not_be_compared(
    found: AllChecks, code: int
) -> None:
    assert found.exit_code(wait=180) == code


def test_without_waiting_what_is_to_do_is_no_difference() -> None:
    assert AllChecks([_topic(behind=1)], []).exit_code(wait=0) == 0


def test_what_was_found_is_json() -> None:
    table = TableCheck("silver/positions", 10, 1, 0, 0, ["1 missing"], date(2026, 11, 21))
    topic, found = json.loads(json.dumps(AllChecks([_topic()], [table]).as_json()))
    assert topic["topic"] == "warren.lag"
    assert found["to_make_again"] == "2026-11-21"
