"""One group, topic or incident of the API, by a name as people type it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from warren.errors import SettingsError
from warren.words import visible

from warren_cli.api_client import request
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, TOPICS, path_name
from warren_cli.resources.close_names import did_you_mean
from warren_cli.resources.listing import fetch, require_cluster
from warren_cli.resources.resource import Resource, Row


def group(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/groups/CLUSTER/GROUP`.

    Raises SettingsError when there is none of this name, or several clusters have one.
    """
    row = _named(GROUPS, "group", address, name, cluster)
    return _whole(address, "groups", row["cluster"], row["group"])


def topic(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/topics/CLUSTER/TOPIC`. Raises as `group` does."""
    row = _named(TOPICS, "topic", address, name, cluster)
    return _whole(address, "topics", row["cluster"], row["topic"])


def incident(address: str, beginning: str) -> dict[str, Any]:
    """The incident whose id begins so, with `notifications`: who was told of it.

    Raises SettingsError when there is none, or more than one.
    """
    found = find_incident(address, beginning, is_open=False)
    parameters = {"incident": found["id"]}
    told = request("GET", address, "notifications", parameters=parameters)
    return {**found, "notifications": told["notifications"], "pending": told["pending"]}


def find_incident(address: str, beginning: str, *, is_open: bool) -> Row:
    """Without who was told. Raises as `incident` does."""
    if not beginning:
        raise SettingsError("INCIDENT", "is empty: name one, as `warren get incidents` lists them")
    known = fetch(INCIDENTS, address, {"open": is_open}).rows
    found = [each for each in known if each["id"].startswith(beginning)]
    kind = "open incident" if is_open else "incident"
    if not found:
        raise SettingsError("INCIDENT", f"no {kind} begins with {visible(beginning)}")
    if len(found) > 1:
        raise SettingsError("INCIDENT", f"{len(found)} {kind}s begin with {visible(beginning)}")
    return found[0]


def _named(resource: Resource, kind: str, address: str, name: str, cluster: str | None) -> Row:
    """By its name, else by CLUSTER/NAME: names of groups may hold slashes."""
    found = _exact(resource, kind, address, name, cluster)
    if not found and cluster is None and "/" in name:
        first, _, rest = name.partition("/")
        found = [
            row for row in _exact(resource, kind, address, rest, None) if row["cluster"] == first
        ]
    if not found:
        if cluster is not None:
            require_cluster(address, cluster)
        known = {row[kind] for row in fetch(resource, address, {"cluster": cluster}).rows}
        hint = did_you_mean(name, known, resource.name)
        raise SettingsError("NAME", f"no {kind} {visible(name)}{hint}")
    if len(found) > 1:
        names = ", ".join(visible(path_name(row, kind)) for row in found)
        raise SettingsError("NAME", f"{len(found)} clusters have it: {names} (--cluster)")
    return found[0]


def _exact(
    resource: Resource, kind: str, address: str, name: str, cluster: str | None
) -> list[Row]:
    filters = {"regex": f"^{re.escape(name)}$"}
    rows = fetch(resource, address, filters).rows
    return [row for row in rows if row[kind] == name and cluster in (None, row["cluster"])]


def _whole(address: str, kind: str, cluster: str, name: str) -> dict[str, Any]:
    path = f"{kind}/{quote(cluster, safe='')}/{quote(name, safe='')}"
    answer: dict[str, Any] = request("GET", address, path)
    return answer
