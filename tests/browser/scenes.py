"""What pages are looked at with: groups of every status, a past, a cluster that is away."""

from typing import Any

from api.served_api import NOW, Api, late, topic
from warren.contracts import MINUTE_MS, ClusterEvent, NotificationEvent, Silence
from warren.settings import (
    ApiSettings,
    ClusterSettings,
    ObjectiveSettings,
    SavedFilter,
    Settings,
)
from warren_api.model.cluster import FeedState

HOUR = 60 * MINUTE_MS
OPENED = NOW - 41 * MINUTE_MS
CAUSES = {
    "stopped": ("nobody has been in the group for 41m", "start its consumers, or find out why"),
    "stalled": ("one record stops payments/0: offset 120 for 41m", "skip or fix that record"),
    "slow": ("1/s of 10/s that arrive are consumed", "add consumers, or make them faster"),
    "losing": ("4,914 records were deleted before they were consumed", "raise the retention"),
}
SHORT = {"stopped": "No members", "slow": "Too slow"}
BAD = {
    "stopped": "STOP",
    "stalled": "STALL",
    "rewound": "REWIND",
    "beyond": "BEYOND_END",
    "slow": "WARN",
    "losing": "STALL",
}


def everything() -> Api:
    """Groups of every status, on a cluster that is well and one that is away."""
    objective = ObjectiveSettings(name="all", groups=["^s"], max_freshness=60, owner="payments")
    clusters = {name: ClusterSettings(bootstrap="broker:9092") for name in ("demo", "staging")}
    saved = SavedFilter(name="payments", q="owner:payments status:bad")
    settings = Settings(clusters=clusters, objectives=[objective], api=ApiSettings(filters=[saved]))
    api = Api(settings=settings)
    put_cluster(api, "demo", "ok", NOW - HOUR)
    put_cluster(api, "staging", "unreachable", NOW - HOUR)
    for group, status in BAD.items():
        _bad_group(api, group, status)
    api.describe("stopped", members=[])
    api.measure("stopped", late(41 * MINUTE_MS, time_to_loss_ms=18 * MINUTE_MS))
    api.measure("losing", late(41 * MINUTE_MS, lost_records=4_914))
    for group in ("fine", "finer"):
        api.put(group)
        owns = {"member_id": "m-1", "client_id": "app-1", "host": "/10.0.0.1"}
        idle = {**owns, "member_id": "m-2", "client_id": "app-2"}
        members = [{**owns, "assignment": {"orders": [0, 1]}}, idle]
        api.describe(group, members=members, idle_members=1)
        api.measure(group, late(300))
        _past(api, group, {"OK": MINUTE_MS}, 0)
    api.put("lost-sight-of", cluster="staging", evaluated_at=NOW - HOUR)
    api.describe("thumbnails", protocol="share")
    _told(api)
    return api


def starting() -> Api:
    return Api(feed=FeedState(ready=False, problem=None))


def thousand() -> Api:
    api = Api()
    for number in range(1_000):
        bad = number % 40 == 0
        incident = {"id": f"i{number}", "opened_at": OPENED} if bad else None
        status = "ERR" if bad else "OK"
        api.put(f"group-{number:04}", status=status, total_lag=number, incident=incident)
    return api


def wide() -> Api:
    """A group of 1,000 partitions, some of each status."""
    api = Api()
    rows = [{"status": list(BAD.values())[n % len(BAD)], "lag": n} for n in range(60)]
    rows += [{}] * 940
    topics = {"orders": topic(*rows[::2]), "payments": topic(*rows[1::2])}
    incident = {"id": "i", "opened_at": OPENED}
    api.put("wide", status="ERR", incident=incident, topics=topics, total_lag=1_770)
    return api


def long_names(name: str) -> Api:
    """A cluster, groups, topics, clients, a silence and an incident that are called so."""
    objective = ObjectiveSettings(name=name, max_freshness=60, owner=name)
    saved = ApiSettings(filters=[SavedFilter(name=name[:60], q=name)])
    clusters = {each: ClusterSettings(bootstrap="broker:9092") for each in ("demo", name)}
    api = Api(settings=Settings(clusters=clusters, objectives=[objective], api=saved))
    put_cluster(api, "demo", "ok", NOW - HOUR)
    put_cluster(api, name, "unreachable", NOW - HOUR)
    cause = {"name": "known", "sentence": f"{name} is stopped", "action": f"restart {name}"}
    told = {"cause": cause, "explanation": f"{name}/0: no commit for 41m"}
    incident = {"id": name, "opened_at": OPENED}
    topics = {name: topic({"status": "STOP", "lag": 66_080}, {})}
    member = {"member_id": name, "client_id": name, "host": name, "assignment": {name: [0]}}
    for cluster in ("demo", name):
        api.put(name, cluster, status="ERR", incident=incident, topics=topics, **told)
        api.describe(name, cluster, members=[member])
    api.list_topics({name: [1, 2]})
    api.change(name, "ERR", OPENED, incident_id=name, total_lag=66_080, **told)
    silence = Silence(
        id=name[:100],
        cluster=name,
        group=name,
        begins_at=NOW,
        ends_at=NOW + HOUR,
        by=name[:100],
        why=name,
        created_at=NOW,
    )
    api.model.silences.apply(name[:100].encode(), silence.to_bytes())
    return api


def put_cluster(api: Api, name: str, state: Any, since: int) -> None:
    problem = "" if state == "ok" else "no broker answers"
    event = ClusterEvent(
        cluster=name, collector="c", observed_at=NOW, state=state, since=since, problem=problem
    )
    api.model.apply_cluster(f"{name}|c".encode(), event.to_bytes())


def _bad_group(api: Api, group: str, status: str) -> None:
    level = "WARN" if status == "WARN" else "ERR"
    sentence, action = CAUSES.get(group, ("", ""))
    cause = {"name": "known", "sentence": sentence, "action": action} if sentence else None
    if cause and group in SHORT:
        cause["short"] = SHORT[group]
    fields: dict[str, Any] = {"cause": cause, "explanation": "payments/0: no commit for 41m"}
    topics = {"payments": topic({"status": status, "lag": 66_080}, {}), "orders": topic({})}
    incident = {"id": f"incident-{group}", "opened_at": OPENED}
    api.put(group, status=level, total_lag=66_080, incident=incident, topics=topics, **fields)
    api.describe(group)
    api.change(group, level, OPENED, incident_id=f"incident-{group}", total_lag=66_080, **fields)
    _past(api, group, {level: MINUTE_MS}, 41)


def _past(api: Api, group: str, status_ms: dict[str, int], bad_minutes: int) -> None:
    this = NOW - NOW % MINUTE_MS
    for n in range(1, 61):
        behind = max(bad_minutes - n, 0)
        api.remember(
            group,
            this - n * MINUTE_MS,
            status_ms=status_ms if n <= bad_minutes else {"OK": MINUTE_MS},
            late_ms=behind * MINUTE_MS,
            lag=behind * 1_600,
            produced=1_600 + n % 9,
            consumed=0 if n <= bad_minutes else 1_600 + n % 7,
        )


def _told(api: Api) -> None:
    event = NotificationEvent(
        cluster="demo",
        group="stopped",
        delivery_id="d",
        event_id="e",
        incident_id="incident-stopped",
        kind="opened",
        status="ERR",
        route="all",
        channel="on-call",
        attempt=1,
        at=OPENED + 1_000,
        outcome="delivered",
        detail="202 Accepted",
    )
    api.model.notifications.take(0, 0, event.to_bytes(), event.key)
