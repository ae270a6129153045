"""Mails about many incidents from the service itself, killed between opening and end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from notifier.builders import event
from notifier.process import Home, config, email, notifier, stop
from notifier.smtp_receiver import SmtpReceiver, serving
from support.waiting import eventually
from warren.contracts import StatusChangeEvent
from warren_local.ports import free_port

GROUPS = [f"g{number}" for number in range(40)]
ROUTE = """[[notifier.routes]]
name = "people"
channels = ["mail"]
group_wait = 2
group_interval = 4
"""


def news(group: str, *, over: bool = False) -> StatusChangeEvent:
    status, previous = ("OK", "ERR") if over else ("ERR", "OK")
    return event(status, previous, group=group, event_id=f"{group}-{status}", incident_id=group)


def test_a_storm_is_few_mails_of_which_each_incident_knows_its_own(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    home = Home.create(broker.bootstrap, unique)
    with serving(SmtpReceiver("451 try again"), port=free_port()) as mails:
        file = config(tmp_path, home, email("mail", mails.port), routes=ROUTE)

        def told(kind: str) -> set[str]:
            done = [a for a in home.audit() if (a.kind, a.outcome) == (kind, "delivered")]
            return {one.group for one in done}

        with notifier(file) as first:
            home.publish(*map(news, GROUPS))
            eventually(lambda: told("opened") == set(GROUPS), timeout=180, message="all opened")
            first.child.kill()
        home.publish(*(news(group, over=True) for group in GROUPS))
        with notifier(file) as second:
            eventually(lambda: home.states() == {}, timeout=180, message="all ends are told")
            assert stop(second) == 0, second.output()
    assert told("resolved") == set(GROUPS)
    assert len(mails.mails) < len(GROUPS)
    by_id = {str(mail["X-Warren-Delivery"]) for mail in mails.mails}
    assert {one.digest for one in home.audit() if one.digest is not None} >= by_id - {
        one.delivery_id for one in home.audit()
    }
    roots = {str(mail["Message-ID"]) for mail in mails.mails if mail["References"] is None}
    assert {str(mail["References"]) for mail in mails.mails if mail["References"]} <= roots
    assert home.dead_letters() == []
