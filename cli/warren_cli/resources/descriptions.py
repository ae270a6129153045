"""One group, topic or incident as text: what is wrong and what to do first, then the evidence."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from warren.words import condition, duration, visible

from warren_cli.resources.catalogue import (
    Row,
    ago,
    because,
    count,
    rate,
    severity,
)
from warren_cli.resources.output import table

_NONE = "-"
Facts = Iterable[tuple[str, str | None]]
"""Names and values; what is None or empty is left out."""


def group(body: Row, now_ms: int) -> RenderableType:
    """Of `GET /api/v1/groups/CLUSTER/GROUP`."""
    return Group(_facts(_group_facts(body, now_ms)), *_group_tables(body))


def topic(body: Row) -> RenderableType:
    """Of `GET /api/v1/topics/CLUSTER/TOPIC`."""
    facts = [
        ("topic", f"{body['cluster']}/{body['topic']}"),
        ("partitions", count(body["partition_count"])),
        ("produced", rate(body["produce_rate"])),
        ("consumed", rate(body["consume_rate"])),
        ("largest lag", count(body["max_lag"])),
    ]
    readers = [
        (each["group"], each["status"], count(each["lag"]), rate(each["consume_rate"]))
        for each in body["groups"]
    ]
    return Group(_facts(facts), *_section(("read by", "status", "lag", "consumed"), readers))


def incident(body: Row, now_ms: int) -> RenderableType:
    """Of `GET /api/v1/incidents/ID`, with `notifications`."""
    is_several = len(body["conditions"]) > 1
    titles = ("changed", *["condition"] * is_several, "to", "because")
    changes = [
        (_at(each["at"]), *[condition(each["type"])] * is_several, each["status"], because(each))
        for each in body["changes"]
    ]
    told = [
        (_at(each["at"]), each["channel"], each["kind"], each["outcome"], each["detail"])
        for each in body["notifications"]
    ]
    pending = [
        (_at(each["since"]), each["channel"], each["kind"], "pending", each["held"])
        for each in body["pending"]
    ]
    return Group(
        _facts(_incident_facts(body, now_ms)),
        *_section(titles, changes),
        *_section(("notified", "channel", "of", "outcome", "detail"), [*told, *pending]),
    )


def _group_facts(body: Row, now_ms: int) -> Facts:
    yield "group", f"{body['cluster']}/{body['group']}"
    yield "status", _status(body, now_ms)
    for fact in body["facts"]:
        yield fact["name"].lower(), fact["value"]
    yield "state", f"{body.get('state') or _NONE}, members: {count(body.get('member_count'))}"
    if opened := body["incident"]:
        yield "incident", f"{opened['id']}, open for {ago(opened['opened_at'], now_ms)}"


def _status(body: Row, now_ms: int) -> str:
    """`ERR for 2m, not OK for 7m`: how long it has it, and how long one that is not OK."""
    own, shown, since_ = body["status"], severity(body), body["since"]
    said = ["not judged" if own is None else shown]
    if own == shown and since_ is not None:
        said = [f"{shown} for {ago(since_, now_ms)}"]
    opened = (body["incident"] or {}).get("opened_at") if shown in ("WARN", "ERR") else None
    if opened is not None and (own != shown or since_ is None or opened < since_):
        said.append(f"not OK for {ago(opened, now_ms)}")
    return ", ".join(said)


def _group_tables(body: Row) -> Iterable[RenderableType]:
    topics = [
        (
            each["topic"],
            count(each["partition_count"]),
            count(each["lag"]),
            rate(each["produce_rate"]),
            rate(each["consume_rate"]),
            _NONE if each["catch_up_ms"] is None else duration(each["catch_up_ms"]),
        )
        for each in body.get("topics", ())
    ]
    titles = ("topic", "partitions", "lag", "produced", "consumed", "caught up in")
    yield from _section(titles, topics)
    bad = [
        (
            f"{each['topic']}/{each['partition']}",
            each["status"],
            count(each["lag"]),
            each["owner"],
            each["explanation"],
        )
        for each in body.get("partitions", ())
        if each["status"] != "OK"
    ]
    yield from _section(("partition not OK", "status", "lag", "owner", "why"), bad)
    membership = body.get("membership") or {}
    members = [
        (
            each["client_id"] or each["member_id"],
            (each["host"] or "").removeprefix("/"),
            count(sum(len(partitions) for partitions in each["assignment"].values())),
        )
        for each in membership.get("members", ())
    ]
    yield from _section(("member", "host", "partitions"), members)


def _incident_facts(body: Row, now_ms: int) -> Facts:
    yield "incident", body["id"]
    yield "group", f"{body['cluster']}/{body['group']}"
    ended = body["closed_at"]
    lasted = ago(body["opened_at"], now_ms if ended is None else ended)
    yield "duration", f"{lasted}, ongoing" if ended is None else f"{lasted}, until {_at(ended)}"
    yield "worst", body["worst"]
    yield "conditions", ", ".join(map(_condition, body["conditions"]))
    for fact in body["facts"]:
        yield fact["name"].lower(), fact["value"]
    yield "largest lag seen", count(body["max_total_lag"])


def _condition(body: Row) -> str:
    """`consumer status ERR`, `retention over`."""
    return f"{condition(body['type'])} {body['status'] if body['open'] else 'over'}"


def _facts(facts: Facts) -> Table:
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True, style="bold")
    made.add_column(overflow="fold")
    for name, value in facts:
        if value:
            made.add_row(name, Text(visible(value)))
    return made


def _section(
    titles: Sequence[str], rows: Sequence[Sequence[str | None]]
) -> Iterable[RenderableType]:
    if rows:
        yield Text()
        yield table(titles, rows)


def _at(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
