"""What the API says of one group that is stuck, as the terminal gets it."""

from typing import Any

from api.served_api import CAUGHT_UP, NOW, Api, late, topic
from api.test_notifications import state, told

Body = dict[str, Any]
MINUTE = 60_000
OPENED = NOW - 4 * MINUTE
ID = f"billing-{OPENED}"
CAUSE = {
    "name": "one_member",
    "short": "One member stands still",
    "sentence": "orders/1 belongs to member billing-2 at 10.1.2.3; the other one is well",
    "action": "look at billing-2 at 10.1.2.3",
    "evidence": {"topic": "orders", "partition": 1, "client_id": "billing-2", "members": 2},
    "also": [{"name": "records_lost", "sentence": "39 unread records deleted", "action": "raise"}],
}
BREACH = {
    "objective": "orders-on-time",
    "limit": "max_freshness",
    "status": "WARN",
    "since": NOW - 2 * MINUTE,
    "value": 700_000,
    "wanted": 300_000,
    "sentence": "orders/1 is at least 11m late (limit 5m)",
    "owner": "payments",
}
WHY = {"reason": "no_commit", "explanation": "no commit for 4m, usual pause 5s"}


def scripted() -> Api:
    api = Api()
    incident = {"id": ID, "opened_at": OPENED}
    bad = topic({}, {"status": "STOP", "lag": 2_101, "log_end": 2_201})
    bad |= {name: [None, said] for name, said in WHY.items()}
    topics = {"orders": bad}
    figures = {"status": "ERR", "total_lag": 2_101, "cause": CAUSE, **WHY}
    api.put("billing", incident=incident, topics=topics, **figures)
    api.describe("billing", last_rebalance_at=OPENED, unowned={"orders": [1]})
    opened = {"total_lag": 7, "max_lag": {"topic": "orders", "partition": 1, "lag": 7}}
    api.change("billing", "ERR", OPENED, cause=CAUSE, **opened, **WHY)
    kind = {"type": "warren.group.freshness.changed", "incident_id": "late-1"}
    api.change("billing", "WARN", NOW - 2 * MINUTE, **kind, objectives=[BREACH])
    open_one = {"topic": "orders", "partition": 1, "first_offset": 7, "since": OPENED}
    open_one |= {"producer_id": 4, "producer_epoch": 1, "hanging": True}
    slow = late(600_000, time_to_loss_ms=900_000, commit_lag_ms=5, append_lag_ms=9)
    rates = {"produce_rate": 20.0, "consume_rate": 10.0, "time_to_catch_up_ms": 9_000}
    api.measure("billing", CAUGHT_UP, {**slow, **rates}, open_transactions=[open_one])
    api.list_topics({"orders": [100, 2_201]})
    silence = {"cluster": "^demo$", "group": "^billing", "for_seconds": 3600, "why": "moving"}
    api.request("POST", "/api/v1/silences", json={**silence, "by": "ada"})
    api.request("POST", f"/api/v1/incidents/{ID}/acknowledge", json={"by": "grace", "why": "on it"})
    sent = told(incident_id=ID, at=OPENED, outcome="failed", next_attempt_at=NOW)
    api.model.notifications.take(0, 0, sent.to_bytes(), sent.key)
    waits = state(incident_id=ID, held="silence x")
    api.model.notifications.apply_state(b"billing", waits.to_bytes())
    return api


_API = scripted()


def _asked(path: str) -> Body:
    body: Body = _API.get(f"/api/v1/{path}").json()
    return body


GROUP_DETAIL = _asked("groups/demo/billing")
(GROUP_SUMMARY,) = _asked("groups")["groups"]
TOPIC_DETAIL = _asked("topics/demo/orders")
INCIDENT = _asked(f"incidents/{ID}")
CLUSTER_SUMMARY = _asked("clusters/demo")
(SILENCE,) = _asked("silences")["silences"]
(TOLD,), (PENDING,) = (_asked("notifications")[name] for name in ("notifications", "pending"))
