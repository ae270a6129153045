"""Burrow's clusters, consumers, client profiles, TLS and SASL: Warren's `[clusters.<name>]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from warren.errors import SettingsError

from warren_cli.burrow_config.table import BurrowTable

_HIDDEN = "^warren-"  # the default of groups_deny: Warren's own groups
_OF_CLUSTERS = {
    "topic-refresh": "no counterpart: topics that groups consume are found as they commit",
    "offset-refresh": "no counterpart: log ends are read at every collector.interval",
    "groups-reaper-refresh": "no counterpart: a deleted group is seen in __consumer_offsets",
}
_OF_CONSUMERS = {
    "start-latest": "no counterpart: __consumer_offsets is read from its beginning, once",
    "backfill-earliest": "no counterpart: __consumer_offsets is read from its beginning, once",
}
_LONGEST = 300  # seconds that librdkafka allows for an answer


class Filter(NamedTuple):
    """Regular expressions of groups."""

    allow: list[str]
    deny: list[str]


def group_filter(table: BurrowTable) -> Filter:
    """`group-allowlist` and `group-denylist`, or their names before Burrow 1.4."""
    return Filter(
        table.expressions("group-allowlist", "group-whitelist"),
        table.expressions("group-denylist", "group-blacklist"),
    )


def clusters(burrow: BurrowTable) -> dict[str, dict[str, Any]]:
    consumers = list(burrow.table("consumer").tables())
    made = {}
    for table in burrow.table("cluster").tables():
        own = [consumer for consumer in consumers if consumer.text("cluster") == table.name]
        name = settings_name(table)
        made[name] = _cluster(burrow, table, own)
        table.remark_on_the_rest()
    for consumer in consumers:
        if consumer.text("cluster") not in burrow.table("cluster"):
            consumer.remark("cluster", "left out, there is no such cluster")
        consumer.remark_on_the_rest()
    return made


def settings_name(table: BurrowTable) -> str:
    """The table's name as Warren allows it for clusters, channels and routes."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", table.name)
    if name != table.name:
        table.remark("", f"called {name}: only letters, digits, . _ - are allowed in names")
    return name


def _cluster(
    burrow: BurrowTable, table: BurrowTable, consumers: Sequence[BurrowTable]
) -> dict[str, Any]:
    table.text("class-name")
    table.without_counterpart(_OF_CLUSTERS)
    servers = table.texts("servers")
    if not servers:
        raise SettingsError(f"{table.path}.servers", "a list of host:port is needed")
    made: dict[str, Any] = {"bootstrap": ",".join(servers)}
    if not consumers:
        table.remark("", "no consumer reads its offsets; Warren watches its groups all the same")
    zookeepers = [consumer for consumer in consumers if consumer.text("class-name") == "kafka_zk"]
    others = [consumer for consumer in consumers if consumer not in zookeepers]
    if zookeepers:
        made["source"] = ["offsets_topic", "zookeeper"] if others else ["zookeeper"]
        made["zookeeper"] = _zookeeper(zookeepers)
    for consumer in others:
        made |= _kafka_consumer(table, consumer)
    made |= _filters(_merged(table, [group_filter(consumer) for consumer in consumers]))
    if properties := _connection(burrow, table):
        made["kafka"] = properties
    return made


def _kafka_consumer(cluster: BurrowTable, consumer: BurrowTable) -> dict[str, Any]:
    consumer.without_counterpart(_OF_CONSUMERS)
    if sorted(consumer.texts("servers")) != sorted(cluster.texts("servers")):
        consumer.remark("servers", f"left out, those of {cluster.path} are used")
    if consumer.text("client-profile") != cluster.text("client-profile"):
        consumer.remark("client-profile", f"left out, that of {cluster.path} is used")
    topic = consumer.text("offsets-topic")
    return {"offsets_topic": topic} if topic else {}


def _zookeeper(consumers: Sequence[BurrowTable]) -> str:
    """The first one's servers and path, as ZooKeeper's own clients write them."""
    for consumer in consumers[1:]:
        consumer.texts("servers")
        consumer.text("zookeeper-path")
        consumer.remark("", f"left out, a cluster has one ZooKeeper: that of {consumers[0].path}")
    for consumer in consumers:
        consumer.without_counterpart({"zookeeper-timeout": "no counterpart"})
    first = consumers[0]
    servers, path = ",".join(first.texts("servers")), first.text("zookeeper-path").strip("/")
    if not servers:
        raise SettingsError(f"{first.path}.servers", "a list of host:port is needed")
    return f"{servers}/{path}" if path else servers


def _filters(groups: Filter) -> dict[str, list[str]]:
    made = {}
    if groups.allow:
        made["groups_allow"] = groups.allow
    if groups.deny:
        made["groups_deny"] = [_HIDDEN, *groups.deny]
    return made


def _merged(table: BurrowTable, filters: Sequence[Filter]) -> Filter:
    if not filters or all(one == filters[0] for one in filters):
        return filters[0] if filters else Filter([], [])
    table.remark("", "its consumers' lists differ: a group that one lets through is watched")
    allow = [expression for one in filters for expression in one.allow]
    if not all(one.allow for one in filters):
        allow = []
    common = [e for e in filters[0].deny if all(e in one.deny for one in filters)]
    return Filter(list(dict.fromkeys(allow)), common)


def _connection(burrow: BurrowTable, cluster: BurrowTable) -> dict[str, str]:
    """librdkafka's properties of the client profile."""
    name = cluster.text("client-profile")
    if not name:
        return {}
    if name not in burrow.table("client-profile"):
        cluster.remark("client-profile", f"left out, there is no [client-profile.{name}]")
        return {}
    profile = burrow.table("client-profile").table(name)
    made = {"client.id": profile.text("client-id")} if "client-id" in profile else {}
    for key, wanted in (
        ("dial-timeout", "socket.connection.setup.timeout.ms"),
        ("read-timeout", "socket.timeout.ms"),
    ):
        if key in profile:
            made[wanted] = str(min(max(profile.integer(key, 0), 1), _LONGEST) * 1000)
    tls, sasl = profile.text("tls"), profile.text("sasl")
    if tls or sasl or "iam" in profile:
        protocol = "SSL" if tls else "PLAINTEXT"
        made["security.protocol"] = f"SASL_{protocol}" if sasl else protocol
    if tls:
        made |= _tls(burrow.table("tls").table(tls))
    if sasl:
        made |= _sasl(burrow.table("sasl").table(sasl), settings_name(cluster))
    profile.without_counterpart(
        {
            "kafka-version": "no counterpart: clients and brokers agree on versions themselves",
            "iam": "left out: AWS IAM is not supported; use SASL/SCRAM or OAUTHBEARER with OIDC",
        }
    )
    profile.remark_on_the_rest()
    return made


def _tls(table: BurrowTable) -> dict[str, str]:
    made = {
        wanted: table.text(key)
        for key, wanted in (
            ("cafile", "ssl.ca.location"),
            ("certfile", "ssl.certificate.location"),
            ("keyfile", "ssl.key.location"),
        )
        if table.text(key)
    }
    if table.flag("noverify"):
        table.remark("noverify", "kept: the brokers' certificates are not verified")
        made["enable.ssl.certificate.verification"] = "false"
    table.remark_on_the_rest()
    return made


def _sasl(table: BurrowTable, cluster: str) -> dict[str, str]:
    mechanism = table.text("mechanism")
    made = {
        # Burrow takes any other for PLAIN.
        "sasl.mechanism": mechanism if mechanism in _SCRAM else "PLAIN",
        "sasl.username": table.text("username"),
    }
    if "password" in table:
        made["sasl.password"] = table.text("password")
    else:
        place = f"[clusters.{cluster}.kafka]"
        table.remark(
            "password", f'not there: add "sasl.password" or "sasl.password_file" to {place}'
        )
    table.flag("handshake-first")  # every broker since Kafka 0.10 wants it
    table.remark_on_the_rest()
    return made


_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
