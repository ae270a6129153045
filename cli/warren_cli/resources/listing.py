"""Lists of the API, page by page, and one group, topic or incident by a name as people type it."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from warren.errors import SettingsError
from warren.path_segments import segment
from warren.words import visible

from warren_cli.api_client import ApiFoundNothing, Parameters, pages, request, understood
from warren_cli.resources.catalogue import (
    CLUSTERS,
    GROUPS,
    INCIDENTS,
    TOPICS,
    Resource,
    Row,
    path_name,
)

PAGE = 1000
_FEW = 10
_WITHOUT_PAGES = {"clusters", "silences"}


class Listing(NamedTuple):
    """`body`: as the API gives it, with all pages' rows. `total`: how many match."""

    rows: list[Row]
    body: dict[str, Any]
    total: int


def fetch(
    resource: Resource, address: str, filters: Mapping[str, Any], limit: int | None = None
) -> Listing:
    """The rows that match, as far as `limit`; the API filters and sorts.

    Raises what `request` raises, and SettingsError for a cluster that there is not.
    """
    given = {name: value for name, value in filters.items() if value}
    paged = {} if resource.name in _WITHOUT_PAGES else {"limit": str(min(PAGE, limit or PAGE))}
    parameters: Parameters = given | paged

    def ask(page: dict[str, str]) -> Any:
        return request("GET", address, resource.name, parameters={**parameters, **page})

    first: dict[str, Any] = {}
    rows: list[Row] = []
    with understood(address):
        for body in pages(ask):
            first = first or body
            rows += body[resource.name]
            if limit is not None and len(rows) >= limit:
                break
        for row in rows:
            resource.identity(row)
    if not rows and (cluster := filters.get("cluster")):
        require_cluster(address, cluster)
    rows = rows[:limit]
    kept = {name: value for name, value in first.items() if name != "next"}
    return Listing(rows, {**kept, resource.name: rows}, first.get("total", len(rows)))


def clusters(address: str) -> list[str]:
    """Names of those that the API knows."""
    return [row["cluster"] for row in fetch(CLUSTERS, address, {}).rows]


def require_cluster(address: str, name: str) -> None:
    """Raises SettingsError when the API knows no such cluster."""
    require_known(name, clusters(address))


def require_known(name: str, known: Collection[str]) -> None:
    """Raises SettingsError when the cluster is not one of these."""
    if name in known:
        return
    there_are = "; `warren get clusters` lists them"
    if len(known) <= _FEW:
        there_are = f"; there are: {', '.join(map(visible, sorted(known))) or 'none yet'}"
    raise SettingsError("--cluster", f"no cluster {visible(name)}{there_are}")


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
    """Without who was told, by its id or by that of a condition, which groups are listed with, else
    the newest of the group CLUSTER/NAME.

    Raises as `incident` does.
    """
    if not beginning:
        raise SettingsError("INCIDENT", "is empty: name one, as `warren get incidents` lists them")
    known = fetch(INCIDENTS, address, {"open": is_open}).rows  # newest first
    found = [
        each
        for each in known
        if any(one["id"].startswith(beginning) for one in (each, *each["conditions"]))
    ]
    found = found or [each for each in known if beginning == path_name(each, "group")][:1]
    kind = "open incident" if is_open else "incident"
    if not found:
        problem = f"no {kind} begins with {visible(beginning)}, or is of a group of that name"
        raise SettingsError("INCIDENT", f"{problem} (CLUSTER/NAME)")
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
    known = clusters(address) if cluster is None else [cluster]
    first, _, rest = name.partition("/")
    is_path = cluster is None and first in known
    found = _in(resource, address, [first] if is_path else [], rest)
    found = found or _in(resource, address, known, name)
    if not found:
        if cluster is not None:
            require_cluster(address, cluster)
        hint = f"`warren get {resource.name}` lists them"
        raise SettingsError("NAME", f"no {kind} {visible(name)}; {hint}")
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
