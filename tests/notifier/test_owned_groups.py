"""What `[[groups]]` says of a group is part of what is told of its status, and routes go by it."""

from __future__ import annotations

from notifier.builders import OPENED_AT, delivery, event
from notifier.test_as_now import whole
from warren.contracts import Breach, StatusChangeEvent
from warren_notifier.channels.alert import alert_labels
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.routing.change import read_change, read_stored

OWNED = {
    "owner": "payments",
    "runbook": "https://w/r",
    "labels": {"tier": "1", "cluster": "not this"},
}
BREACH = Breach(
    objective="fresh",
    limit="max_freshness",
    status="WARN",
    since=OPENED_AT,
    value=9,
    wanted=5,
    sentence="late",
    owner="orders",
    runbook="https://w/o",
)


def text(**data: object) -> IncidentText:
    return incident_text(delivery(event(**data)), "https://warren", OPENED_AT)  # type: ignore[arg-type]  # fields of a change


def test_the_owner_of_a_group_is_told_and_routed_by() -> None:
    change = read_change(event(**OWNED).to_bytes())  # type: ignore[arg-type]  # fields of a change
    assert change is not None
    assert change.owner == "payments"
    told = text(**OWNED)
    assert dict(told.facts).items() >= {"Owner": "payments", "Runbook": "https://w/r"}.items()
    assert (told.owner, told.runbook_link) == ("payments", "https://w/r")
    labels = alert_labels(told, "ERR", {"tier": "9", "team": "a"})
    assert (labels["tier"], labels["team"], labels["owner"]) == ("1", "a", "payments")
    assert labels["cluster"] == "prod"


def test_the_owner_of_a_group_is_that_of_its_incident() -> None:
    """A group's incident is told to people; a digest by owner is of all that its owner has."""

    def owner(*conditions: StatusChangeEvent) -> str:
        change = read_stored(whole(*conditions))
        assert change is not None
        return change.owner

    late = event("WARN", objectives=[BREACH.model_copy(update={"owner": None})])
    assert owner(event(**OWNED)) == "payments"  # type: ignore[arg-type]  # fields of a change
    assert owner(late, event(**OWNED)) == "payments"  # type: ignore[arg-type]
    assert owner(event(), late) == ""
    assert owner(event(objectives=[BREACH]), event(**OWNED)) == "orders"  # type: ignore[arg-type]


def test_an_objective_s_own_owner_counts_more() -> None:
    told = text(**OWNED, objectives=[BREACH])
    assert (told.owner, told.runbook) == ("orders", "https://w/o")


def test_nothing_is_said_where_nobody_says_it() -> None:
    told = text()
    assert not {"Owner", "Runbook"} & dict(told.facts).keys()
    assert (told.owner, told.runbook, told.runbooks) == ("", "", [])
