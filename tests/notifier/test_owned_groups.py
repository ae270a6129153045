"""What `[[groups]]` says of a group is part of what is told of its status, and routes go by it."""

from notifier.builders import OPENED_AT, delivery, event
from warren.contracts import Breach
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.channels.kinds.alertmanager import alert_labels

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
    told = text(**OWNED)
    assert dict(told.facts).items() >= {"Owner": "payments", "Runbook": "https://w/r"}.items()
    assert (told.standing.owners[0], told.runbook_link) == ("payments", "https://w/r")
    labels = alert_labels(told, "ERR", {"tier": "9", "team": "a"})
    assert (labels["tier"], labels["team"], labels["owner"]) == ("1", "a", "payments")
    assert labels["cluster"] == "prod"


def test_an_objective_s_own_owner_counts_more() -> None:
    told = text(**OWNED, objectives=[BREACH])
    assert (told.standing.owners[0], told.runbook_link) == ("orders", "https://w/o")
