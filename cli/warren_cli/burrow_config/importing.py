"""The whole of burrow.toml: the tables of warren.toml, and remarks on what they do not say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from warren.errors import SettingsError

from warren_cli.burrow_config.clusters import clusters, group_filter
from warren_cli.burrow_config.notifiers import notifiers
from warren_cli.burrow_config.table import BurrowTable, Remark, lower_keys

_LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "warning": "warning"}
_OF_LOGGING = dict.fromkeys(
    ("filename", "maxsize", "maxbackups", "maxage", "use-localtime", "use-compression"),
    "no counterpart: logs go to standard error, in UTC",
)
_OF_GENERAL = {
    "pidfile": "no counterpart: the supervisor knows its processes",
    "stdout-logfile": "no counterpart: logs go to standard error",
    "env-var-prefix": "no counterpart: the prefix is WARREN_",
}
_OF_STORAGE = {
    "workers": "no counterpart: run more evaluators",
    "queue-depth": "no counterpart: Kafka is the queue",
}
_OF_EVALUATOR = {"expire-cache": "no counterpart: groups are judged as their commits come"}
_MOST_INTERVALS = 255
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OPEN = (
    "open to readers as Burrow is (api.without_token); what changes something needs a token: "
    "`warren token` makes one"
)
_TABLES_OF_TABLES = (
    "client-profile",
    "tls",
    "sasl",
    "cluster",
    "consumer",
    "storage",
    "evaluator",
    "httpserver",
    "notifier",
)


class Imported(NamedTuple):
    """`tables`: of warren.toml. `remarks`: on settings of Burrow, in the order of its file."""

    tables: dict[str, Any]
    remarks: list[Remark]

    def without_files(self) -> dict[str, Any]:
        """The tables, but for the files that they name: those are where Warren will run."""
        return _without_files(self.tables)


def import_burrow(tables: Mapping[str, Any], home: str, new_secret: Callable[[], str]) -> Imported:
    """`tables` is burrow.toml as parsed, `home` the bootstrap servers of Warren's own cluster.

    Raises SettingsError, with Burrow's name, for a value that Burrow would not take either.
    """
    remarks: list[Remark] = []
    burrow = BurrowTable("", lower_keys(tables), remarks)
    if not burrow.table("cluster").tables():
        raise SettingsError("cluster", "no [cluster.<name>]: this is no configuration of Burrow")
    evaluation, filters = _evaluation(burrow)
    made = {
        "home": {"bootstrap": home},
        "clusters": clusters(burrow),
        "filters": filters,
        "evaluation": evaluation,
        "api": _api(burrow),
        "log": _log(burrow),
        "notifier": notifiers(burrow, new_secret),
    }
    _general(burrow)
    for section in ("client-profile", "tls", "sasl"):
        for table in burrow.table(section).tables():
            if table.is_unread:
                table.remark("", "left out, nothing uses it")
    for section in _TABLES_OF_TABLES:
        burrow.table(section).remark_on_the_rest()
    burrow.without_counterpart(
        {
            "zookeeper": "no counterpart: Warren's services share their work by Kafka's groups",
            "iam": "left out: AWS IAM is not supported",
        }
    )
    burrow.remark_on_the_rest()
    return Imported({name: table for name, table in made.items() if table}, remarks)


def _without_files(tables: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_files(value) if isinstance(value, dict) else value
        for name, value in tables.items()
        if name != "ca_file"
    }


def _evaluation(burrow: BurrowTable) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rules' settings, and the storage's filter. Burrow has one storage at most."""
    made: dict[str, Any] = {"policy": "burrow"}
    filters: dict[str, Any] = {}
    for storage in burrow.table("storage").tables():
        storage.text("class-name")
        made |= _windows(storage)
        stored = group_filter(storage)
        filters = {"groups_allow": stored.allow, "groups_deny": stored.deny}
        storage.without_counterpart(_OF_STORAGE)
        storage.remark_on_the_rest()
    made.setdefault("min_distance", 0)  # Burrow's default
    for evaluator in burrow.table("evaluator").tables():
        evaluator.text("class-name")
        if "minimum-complete" in evaluator:
            made["minimum_complete"] = evaluator.decimal("minimum-complete", 0)
        if "allowed-lag" in evaluator:
            made["allowed_lag"] = evaluator.integer("allowed-lag", 0)
        evaluator.without_counterpart(_OF_EVALUATOR)
        evaluator.remark_on_the_rest()
    return made, {name: listed for name, listed in filters.items() if listed}


def _windows(storage: BurrowTable) -> dict[str, Any]:
    made: dict[str, Any] = {
        "intervals": storage.integer("intervals", 10),
        "min_distance": storage.integer("min-distance", 0),
        "expire_group": storage.integer("expire-group", 7 * 86400),
    }
    if made["intervals"] > _MOST_INTERVALS:
        storage.remark("intervals", f"{_MOST_INTERVALS} is the most")
        made["intervals"] = _MOST_INTERVALS
    return made


def _api(burrow: BurrowTable) -> dict[str, Any]:
    """The first HTTP server. Burrow lets everybody do everything."""
    servers = burrow.table("httpserver").tables()
    made: dict[str, Any] = {}
    for server in servers[:1]:
        host, _, port = server.text("address").rpartition(":")
        made = {"host": host.strip("[]") or "0.0.0.0", "port": int(port) if port.isdigit() else 0}
        if made["host"] not in _LOOPBACK:
            made["without_token"] = "read"
            server.remark("address", _OPEN)
        if tls := server.text("tls"):
            made |= _certificate(burrow.table("tls").table(tls))
        server.without_counterpart({"timeout": "no counterpart"})
        server.remark_on_the_rest()
    for server in servers[1:]:
        server.remark("", "left out, the API listens on one address")
    general = burrow.table("general")
    if origin := general.text("access-control-allow-origin").rstrip("/"):
        if origin == "*" or re.fullmatch(r"https?://[^/\s*]+", origin):
            made["cors_origins"] = [origin]
        else:
            text = "left out, an origin begins with https:// or http://: set api.cors_origins"
            general.remark("access-control-allow-origin", text)
    return made


def _certificate(table: BurrowTable) -> dict[str, str]:
    made = {"tls_certificate": table.text("certfile"), "tls_key": table.text("keyfile")}
    table.text("cafile")  # Burrow asks no client for a certificate either
    table.flag("noverify")
    table.remark_on_the_rest()
    return made


def _log(burrow: BurrowTable) -> dict[str, Any]:
    logging = burrow.table("logging")
    logging.without_counterpart(_OF_LOGGING)
    made = {}
    if "level" in logging:
        made["level"] = _LEVELS.get(logging.text("level").lower(), "error")
    logging.remark_on_the_rest()
    return made


def _general(burrow: BurrowTable) -> None:
    general = burrow.table("general")
    general.without_counterpart(_OF_GENERAL)
    general.remark_on_the_rest()
