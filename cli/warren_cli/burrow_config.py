"""Burrow's clusters, filters and intervals as Warren's settings: from tables to tables. Pure.

Facts from linkedin/Burrow 1.9.5: main.go and the Configure functions of core/internal. What else
burrow.toml has is for people: docs/migration-from-burrow.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from warren.errors import SettingsError

_HIDDEN = "^warren-"  # the default of groups_deny: Warren's own groups
_MOST_INTERVALS = 255
_TAKEN = ("cluster", "consumer", "client-profile", "tls", "sasl", "storage", "evaluator")
_LOGIN = "write its login, with librdkafka's names, to"

Table = Mapping[str, Any]


class Imported(NamedTuple):
    """`tables`: of warren.toml. `remarks`: what is not as it was in Burrow."""

    tables: dict[str, Any]
    remarks: list[str]


def import_burrow(tables: Table, home: str) -> Imported:
    """`tables` is burrow.toml as parsed, `home` the bootstrap servers of Warren's own cluster.

    Raises SettingsError, with Burrow's name, for a value that Burrow would not take either.
    """
    return _Import(_lower(tables)).made(home)


def _lower(value: Any) -> Any:
    """Burrow's library for settings ignores case, so `[cluster.Prod]` is the cluster prod."""
    if isinstance(value, Mapping):
        return {str(key).lower(): _lower(item) for key, item in value.items()}
    return value


class _Import:
    def __init__(self, burrow: Table) -> None:
        self._burrow = burrow
        self._remarks: list[str] = []

    def made(self, home: str) -> Imported:
        clusters = self._tables("cluster")
        if not clusters:
            raise SettingsError(
                "cluster", "no [cluster.<name>]: this is no configuration of Burrow"
            )
        made: dict[str, Any] = {"home": {"bootstrap": home}, "clusters": {}}
        for name, table in clusters.items():
            made["clusters"][self._settings_name(name)] = self._cluster(name, table)
        evaluation: dict[str, Any] = {"policy": "burrow", "min_distance": 0}  # Burrow's default
        for name, storage in self._tables("storage").items():  # one at most
            made["filters"] = self._filter(f"storage.{name}", storage)
            evaluation |= self._windows(f"storage.{name}", storage)
        for name, table in self._tables("evaluator").items():
            for key, wanted in (("minimum-complete", float), ("allowed-lag", int)):
                if key in table:
                    evaluation[key.replace("-", "_")] = _number(
                        f"evaluator.{name}.{key}", table[key], wanted
                    )
        for section in self._burrow:
            if section not in _TAKEN:
                self._remarks.append(f"{section}: left out: see docs/migration-from-burrow.md")
        made["evaluation"] = evaluation
        return Imported({name: table for name, table in made.items() if table}, self._remarks)

    def _tables(self, section: str) -> dict[str, Table]:
        found = self._burrow.get(section)
        tables = found.items() if isinstance(found, Mapping) else ()
        return {name: table for name, table in tables if isinstance(table, Mapping)}

    def _settings_name(self, name: str) -> str:
        """As Warren allows it."""
        allowed = re.sub(r"[^A-Za-z0-9._-]", "-", name)
        if allowed != name:
            self._remarks.append(f"cluster.{name}: called {allowed}: only letters, digits, . _ -")
        return allowed

    def _cluster(self, name: str, table: Table) -> dict[str, Any]:
        made: dict[str, Any] = {"bootstrap": _servers(f"cluster.{name}", table)}
        consumers = {
            key: one for key, one in self._tables("consumer").items() if one.get("cluster") == name
        }
        zookeepers = {k: one for k, one in consumers.items() if one.get("class-name") == "kafka_zk"}
        if zookeepers:
            alone = len(zookeepers) == len(consumers)
            made["source"] = ["zookeeper"] if alone else ["offsets_topic", "zookeeper"]
            made["zookeeper"] = self._zookeeper(zookeepers)
        for key, consumer in consumers.items():
            if key not in zookeepers and consumer.get("offsets-topic"):
                made["offsets_topic"] = str(consumer["offsets-topic"])
        filters = [self._filter(f"consumer.{key}", one) for key, one in consumers.items()]
        made |= self._merged(name, filters)
        if profile := table.get("client-profile"):
            table_of = f"[clusters.{self._settings_name(name)}.kafka]"
            self._remarks.append(f"cluster.{name}: {profile} is left out: {_LOGIN} {table_of}")
        return made

    def _zookeeper(self, consumers: Mapping[str, Table]) -> str:
        """The first one's servers and path, as ZooKeeper's own clients write them."""
        (first, table), *others = consumers.items()
        for name, _ in others:
            self._remarks.append(f"consumer.{name}: left out: a cluster has one ZooKeeper")
        path = str(table.get("zookeeper-path", "")).strip("/")
        servers = _servers(f"consumer.{first}", table)
        return f"{servers}/{path}" if path else servers

    def _filter(self, place: str, table: Table) -> dict[str, list[str]]:
        found = {}
        for ours, key in (("groups_allow", "group-allowlist"), ("groups_deny", "group-denylist")):
            expression = str(table.get(key, ""))
            try:
                re.compile(expression)
            except re.error as error:
                text = f"left out: Python does not read {expression!r}: {error}"
                self._remarks.append(f"{place}.{ours}: {text}")
                continue
            if expression:
                found[ours] = [expression]
        return found

    def _merged(self, name: str, filters: Sequence[dict[str, list[str]]]) -> dict[str, list[str]]:
        """A group that one consumer of a cluster lets through is watched."""
        if any(one != filters[0] for one in filters):
            text = "its consumers' lists differ: a group that one lets through is watched"
            self._remarks.append(f"cluster.{name}: {text}")
        made = {}
        if filters and all("groups_allow" in one for one in filters):
            made["groups_allow"] = _once(e for one in filters for e in one["groups_allow"])
        denied = _once(e for one in filters for e in one.get("groups_deny", ()))
        if common := [e for e in denied if all(e in one.get("groups_deny", ()) for one in filters)]:
            made["groups_deny"] = [_HIDDEN, *common]
        return made

    def _windows(self, place: str, storage: Table) -> dict[str, Any]:
        made = {
            wanted: _number(f"{place}.{key}", storage.get(key, default), int)
            for key, wanted, default in (
                ("intervals", "intervals", 10),
                ("min-distance", "min_distance", 0),
                ("expire-group", "expire_group", 7 * 86400),
            )
        }
        if made["intervals"] > _MOST_INTERVALS:
            self._remarks.append(f"{place}.intervals: {_MOST_INTERVALS} is the most")
            made["intervals"] = _MOST_INTERVALS
        return made


def _servers(place: str, table: Table) -> str:
    """A list, or one text with blanks between its parts."""
    found = table.get("servers")
    servers = found.split() if isinstance(found, str) else found
    if not isinstance(servers, list) or not servers:
        raise SettingsError(f"{place}.servers", "a list of host:port is needed")
    return ",".join(map(str, servers))


def _number(setting: str, value: Any, wanted: type[int] | type[float]) -> Any:
    try:
        return wanted(value)
    except (TypeError, ValueError):
        raise SettingsError(setting, "a number is needed") from None


def _once(expressions: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(expressions))
