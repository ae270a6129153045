"""Events of `warren.lag-status` as routes see them."""

import json

import pytest
from notifier.builders import event
from warren.contracts import GroupStatusName
from warren.errors import ContractViolation
from warren_notifier.routing.change import Severity, Subject, read_change


def test_what_is_read_is_kept_as_it_was_published() -> None:
    published = json.dumps(json.loads(event().to_bytes()) | {"of_tomorrow": 1}).encode()
    change = read_change(published)
    assert change is not None
    assert change.event.encode() == published
    assert change.subject == Subject("prod", "billing", "warren.group.status.changed")
    assert (change.event_id, change.incident_id) == ("event-1", "incident-1")


@pytest.mark.parametrize(
    ("status", "severity", "closing"),
    [
        ("OK", Severity.OK, True),
        ("NOTFOUND", Severity.OK, True),
        ("WARN", Severity.WARN, False),
        ("ERR", Severity.ERR, False),
    ],
)
def test_severity(status: GroupStatusName, severity: Severity, closing: bool) -> None:
    change = read_change(event(status).to_bytes())
    assert change is not None
    assert (change.severity, change.closing) == (severity, closing)
    assert Severity.OK < Severity.WARN < Severity.ERR


def test_types_of_tomorrow_are_not_ours() -> None:
    assert read_change(b'{"type": "warren.group.owner.changed", "data": {}}') is None


@pytest.mark.parametrize("kind", ["freshness", "retention"])
def test_each_type_has_incidents_of_its_own(kind: str) -> None:
    type_ = f"warren.group.{kind}.changed"
    published = event().model_copy(update={"type": type_})
    change = read_change(published.to_bytes())
    assert change is not None
    assert change.subject == Subject("prod", "billing", type_)


@pytest.mark.parametrize("moment", [-1, 253_402_300_800_000, 10**17, 10**400])
def test_an_incident_that_began_at_no_time_is_refused(moment: int) -> None:
    with pytest.raises(ContractViolation, match="opened_at"):
        read_change(event(opened_at=moment).to_bytes())


@pytest.mark.parametrize("value", [None, b"", b"{", b"[]", b"\xff", b'{"type": 3}', b'{"id": "x"}'])
def test_what_is_no_event_is_refused(value: bytes | None) -> None:
    with pytest.raises(ContractViolation):
        read_change(value)
