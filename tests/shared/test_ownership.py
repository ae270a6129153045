"""Whose groups are, by pattern: with an objective and without one."""

from typing import Any

import pytest
from pydantic import ValidationError
from support.offset_events import MINUTE, NOW, Judge, commits, offset_event
from warren.contracts import StatusChangeEvent
from warren.settings import GroupSettings, ObjectiveSettings, Settings
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Ended
from warren_core.objectives.limits import ObjectiveBook
from warren_core.ownership import NOBODY_S, Ownership, OwnershipBook

ENTRIES: list[dict[str, Any]] = [
    {"groups": "^pay", "owner": "payments", "labels": {"tier": "1"}},
    {"clusters": "^prod$", "runbook": "https://w/r", "labels": {"tier": "3", "land": "de"}},
]
PAYMENTS = Ownership("payments", "https://w/r", (("land", "de"), ("tier", "1")))


def entries() -> list[GroupSettings]:
    return [GroupSettings.model_validate(each) for each in ENTRIES]


def test_each_part_comes_from_the_first_entry_that_names_it_and_labels_add_up() -> None:
    book = OwnershipBook(entries())
    assert book.of("prod", "pay-in") == PAYMENTS
    assert book.of("test", "pay-in") == Ownership("payments", None, (("tier", "1"),))
    assert book.of("test", "other") == NOBODY_S == OwnershipBook([]).of("prod", "pay-in")


@pytest.mark.parametrize(
    "wrong", [{"groups": "^a"}, {"labels": {"a b": "c"}}, {"owner": "x", "groups": "("}]
)
def test_an_entry_that_says_nothing_or_no_label_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"groups": [wrong]})


def test_limits_have_the_group_s_owner_unless_their_objective_names_one() -> None:
    asked = [
        {"name": "fresh", "max_freshness": 60},
        {"name": "small", "max_lag": 9, "owner": "orders", "runbook": "https://w/small"},
    ]
    objectives = [ObjectiveSettings.model_validate(each) for each in asked]
    limits = ObjectiveBook(objectives, entries()).limits_for("prod", "pay-in")
    said = {limit.name: (limit.owner, limit.runbook) for limit in limits}
    assert said["max_freshness"] == said["lost_records"] == ("payments", "https://w/r")
    assert said["max_lag"] == ("orders", "https://w/small")
    assert {limit.labels for limit in limits} == {PAYMENTS.labels}
    nobody_s = ObjectiveBook(objectives, entries()).limits_for("test", "other")
    assert nobody_s == ObjectiveBook(objectives).limits_for("test", "other")


def test_a_group_is_its_objective_s_owner_s_where_no_entry_says_whose_it_is() -> None:
    asked = {"name": "small", "max_lag": 9, "owner": "orders", "runbook": "https://w/small"}
    book = ObjectiveBook([ObjectiveSettings.model_validate(asked)], entries())
    assert book.ownership_for("prod", "pay-in") == PAYMENTS
    assert book.ownership_for("test", "other") == Ownership("orders", "https://w/small")
    nothing_asked = ObjectiveSettings.model_validate({"name": "none", "min_time_to_loss": 0})
    assert ObjectiveBook([nothing_asked], entries()).ownership_for("prod", "pay-in") == PAYMENTS


def owned(change: StatusChangeEvent | None) -> tuple[object, ...]:
    assert change is not None
    read = StatusChangeEvent.from_bytes(change.to_bytes()).data
    return read.owner, read.runbook, read.labels


def test_status_changes_and_ends_say_whose_the_group_is() -> None:
    says = Judge(knowledge=Knowledge(ownership=PAYMENTS))
    told = says.all(commits(*range(10, 200, 10)))
    assert owned(next(each.change for each in told if each.change)) == (
        "payments",
        "https://w/r",
        {"land": "de", "tier": "1"},
    )
    ended = says(offset_event(NOW + 40 * MINUTE, deleted=True))
    assert isinstance(ended, Ended)
    assert owned(ended.change)[0] == "payments"


def test_where_nobody_says_it_a_status_change_is_as_before() -> None:
    told = Judge().all(commits(*range(10, 200, 10)))
    change = next(each.change for each in told if each.change)
    fields = change.model_dump(mode="json")["data"]
    assert not {"owner", "runbook", "labels"} & fields.keys()
