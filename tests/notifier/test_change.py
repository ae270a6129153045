"""Events of `warren.incidents` as routes see them."""

import json

import pytest
from notifier.builders import event, incident
from warren.contracts import GroupStatusName
from warren.errors import ContractViolation
from warren_notifier.routing.change import Severity, Subject, read_change

KEY = b"prod|billing"


def test_what_is_read_is_kept_but_for_fields_of_tomorrow() -> None:
    published = incident(event())
    body = json.loads(published.to_bytes()) | {"of_tomorrow": 1}
    change = read_change(KEY, json.dumps(body).encode())
    assert change.event == published
    assert change.subject == Subject("prod", "billing")
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
    change = read_change(KEY, incident(event(status)).to_bytes())
    assert (change.severity, change.closing) == (severity, closing)
    assert Severity.OK < Severity.WARN < Severity.ERR


@pytest.mark.parametrize("moment", [-1, 253_402_300_800_000, 10**17, 10**400])
def test_an_incident_that_began_at_no_time_is_refused(moment: int) -> None:
    body = json.loads(incident(event()).to_bytes())
    body["data"]["opened_at"] = moment
    with pytest.raises(ContractViolation, match="opened_at"):
        read_change(KEY, json.dumps(body).encode())


@pytest.mark.parametrize("value", [None, b"", b"{", b"[]", b"\xff", b'{"type": 3}', b'{"id": "x"}'])
def test_what_is_no_event_is_refused(value: bytes | None) -> None:
    with pytest.raises(ContractViolation):
        read_change(KEY, value)


def test_one_without_conditions_is_refused() -> None:
    body = json.loads(incident(event()).to_bytes())
    body["data"]["conditions"] = []
    with pytest.raises(ContractViolation, match="conditions"):
        read_change(KEY, json.dumps(body).encode())
