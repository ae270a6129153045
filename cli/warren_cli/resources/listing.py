"""Lists of the API, page by page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from warren.errors import SettingsError
from warren.words import visible

from warren_cli.api_client import Parameters, pages, request, understood
from warren_cli.resources.catalogue import CLUSTERS, Resource, Row

PAGE = 1000
_MOST = 3
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
    known = clusters(address)
    if name not in known:
        hint = did_you_mean(name, known, "clusters")
        raise SettingsError("--cluster", f"no cluster {visible(name)}{hint}")


def did_you_mean(name: str, known: Collection[str], plural: str) -> str:
    """The end of an error's sentence: names that are close, else all where they are few."""
    if close := get_close_matches(name, known, n=_MOST):
        return f"; did you mean {' or '.join(map(visible, close))}?"
    if not known:
        return f"; there are no {plural} yet"
    if len(known) <= _FEW:
        return f"; there are: {', '.join(map(visible, sorted(known)))}"
    return f"; `warren get {plural}` lists them"
