"""One group, topic or incident of the API, by a name as people type it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from warren.errors import SettingsError
from warren.path_segments import segment
from warren.words import visible

from warren_cli.api_client import ApiFoundNothing, request
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, TOPICS, Resource, Row, path_name
from warren_cli.resources.listing import clusters, did_you_mean, fetch, require_cluster


def group(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/groups/CLUSTER/GROUP`.

    Raises SettingsError when there is none of this name, or several clusters have one.
    """
    return _named(GROUPS, "group", address, name, cluster)


def topic(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/topics/CLUSTER/TOPIC`. Raises as `group` does."""
    return _named(TOPICS, "topic", address, name, cluster)


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


def _named(
    resource: Resource, kind: str, address: str, name: str, cluster: str | None
) -> dict[str, Any]:
    """By CLUSTER/NAME, as it is listed, else by its name: those of groups may hold slashes, and one
    that is called like another's CLUSTER/NAME is not to stand before it.
    """
    if not name:
        hint = f"name one, as `warren get {resource.name}` lists them"
        raise SettingsError("NAME", f"is empty: {hint}")
    if cluster is None:
        known = clusters(address)
        first, _, rest = name.partition("/")
        found = _in(resource, address, [first] if first in known else [], rest)
        found = found or _in(resource, address, known, name)
    else:
        found = _in(resource, address, [cluster], name)
    if not found:
        if cluster is not None:
            require_cluster(address, cluster)
        names = {row[kind] for row in fetch(resource, address, {"cluster": cluster}).rows}
        hint = did_you_mean(name, names, resource.name)
        raise SettingsError("NAME", f"no {kind} {visible(name)}{hint}")
    if len(found) > 1:
        paths = ", ".join(visible(path_name(whole, kind)) for whole in found)
        raise SettingsError("NAME", f"{len(found)} clusters have it: {paths} (--cluster)")
    return found[0]


def _in(resource: Resource, address: str, where: Iterable[str], name: str) -> list[dict[str, Any]]:
    """All that is known of those of this name, each asked for by itself: an expression for a long
    name may be longer than the API takes.
    """
    found = []
    for cluster in where if name else ():
        with suppress(ApiFoundNothing):
            path = f"{resource.name}/{segment(cluster)}/{segment(name)}"
            found.append(request("GET", address, path))
    return found
