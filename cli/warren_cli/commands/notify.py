"""`warren notify`: who would be told, and why; and whether they can be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from warren.clock import SystemClock
from warren.contracts import EVENT_TYPES, STATUS_CHANGED, GroupStatusName
from warren.errors import SettingsError
from warren.settings import Settings
from warren.settings_file import load_settings
from warren.silences import group_matcher
from warren.words import duration, visible

from warren_cli.api_client import ApiRefused, ApiUnavailable, request
from warren_cli.api_place import settings_file
from warren_cli.commands.options import ApiOption, ConfigOption, StatusName
from warren_cli.commands.silence import ByOption, whoever
from warren_cli.listed_commands import ListedCommands
from warren_cli.resources.output import clusters, require_known

if TYPE_CHECKING:
    from warren_notifier.routing.routes import ChannelPart, RoutePart

LOOK_EVERY = 0.5  # seconds
_STATUSES: dict[StatusName, GroupStatusName] = {
    StatusName.OK: "OK",
    StatusName.WARN: "WARN",
    StatusName.ERR: "ERR",
}

app = typer.Typer(cls=ListedCommands, no_args_is_help=True)


@app.callback()
def notify() -> None:
    """Inspect and test notification routes."""


@app.command("explain")
def explain_(
    cluster: Annotated[str, typer.Option(help="The group's cluster")],
    group: Annotated[str, typer.Option(help="Group name")],
    status: Annotated[
        StatusName, typer.Option(case_sensitive=False, help="Status to simulate")
    ] = StatusName.ERR,
    event_type: Annotated[
        str, typer.Option("--type", help=f"{', '.join(EVENT_TYPES[:-1])} or {EVENT_TYPES[-1]}")
    ] = STATUS_CHANGED,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Say of each route whether it takes a change, and what it does about it now.

    From the settings; the API is asked which clusters there are, and whether somebody has silenced
    the group.
    """
    from warren_core.objectives.limits import ObjectiveBook
    from warren_notifier.channels.configured import digesting
    from warren_notifier.routing import trial
    from warren_notifier.routing.routes import Grouping, Route, explain

    known_types = {name: name for name in EVENT_TYPES}
    if event_type not in known_types:
        raise SettingsError("--type", f"{visible(event_type)} is none of {', '.join(EVENT_TYPES)}")
    if status not in _STATUSES:
        raise SettingsError("--status", "nobody is told that a status is unknown")
    settings = load_settings(settings_file(config))
    address = api or settings.api.address
    if known := _clusters(address, settings):
        require_known(cluster, known)
    routes = [Route(route) for route in settings.notifier.routes]
    grouping = Grouping(routes, digesting(settings.notifier))
    change = trial.change(cluster, group, _STATUSES[status], known_types[event_type])
    now = SystemClock().now_ms()
    parts = explain(routes, grouping, change, now)
    if not parts:
        typer.echo("there are no routes: nobody is told of anything")
    for line in (line for part in parts for line in _lines(part, now)):
        typer.echo(line)
    owner = ObjectiveBook(settings.objectives, settings.groups).owner_of(cluster, group)
    typer.echo(_silence(address, cluster, group, owner, now))


def _clusters(address: str, settings: Settings) -> set[str]:
    """Names of those that the settings or the API know; none where neither can say."""
    known = set(settings.clusters)
    with suppress(ApiUnavailable, ApiRefused):
        known |= set(clusters(address))
    return known


def _lines(part: RoutePart, now: int) -> Iterator[str]:
    if part.why_not is not None:
        yield f"{part.name}: no, {visible(part.why_not)}"
        return
    muted = f", muted for {duration(part.muted_until - now)}" if part.muted_until else ""
    yield f"{part.name}: yes{muted}: {', '.join(map(visible, part.why))}"
    for channel in part.channels:
        yield f"  {channel.name}: {_grouped(channel)}"
    for name, route in part.elsewhere:
        yield f"  {name}: told by {route}"


def _grouped(channel: ChannelPart) -> str:
    wait = f" after {duration(channel.wait_ms)}" if channel.wait_ms else " at once"
    if channel.digest is None:
        return f"alone{wait}"
    return f"together with others on {visible(channel.digest.cluster)}, the first{wait}"


def _silence(address: str, cluster: str, group: str, owner: str | None, now: int) -> str:
    try:
        known = request("GET", address, "silences", parameters={"in_force": True})["silences"]
    except (ApiUnavailable, ApiRefused) as error:
        return f"whether it is silenced is not known: {error}"
    for silence in known:
        if (silence.get("owner") or owner) == owner and group_matcher(
            silence["cluster"], silence["group"]
        )(cluster, group):
            until = datetime.fromtimestamp(silence["ends_at"] / 1000, UTC)
            return (
                f"silenced for {duration(silence['ends_at'] - now)}, "
                f"until {until:%Y-%m-%d %H:%M:%S} UTC, by {visible(silence['by'])}: "
                f"{visible(silence['why'])} (silence {silence['id']})"
            )
    return "not silenced"


@app.command("test")
def try_out(
    route: Annotated[str, typer.Option(help=r"Its name, as in [\[notifier.routes]]")],
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for what comes of it")] = 60,
    by: ByOption = None,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Have a notifier tell a route's channels of an incident that there is not, and of its end.

    All as for a real one, whatever the route is for and whatever is silenced. Exit 1: not all has
    arrived.
    """
    settings = load_settings(settings_file(config))
    known = {one.name: one.channels for one in settings.notifier.routes}
    if known and route not in known:
        raise SettingsError("--route", f"no route {visible(route)}; there are: {', '.join(known)}")
    address = api or settings.api.address
    answer = request("POST", address, "notifications/test", {"route": route, "by": whoever(by)})
    wanted = {(name, kind) for name in known.get(route, []) for kind in ("opened", "resolved")}
    if not _report(address, answer["incident_id"], wanted, wait):
        raise typer.Exit(1)


def _report(address: str, incident: str, wanted: set[tuple[str, str]], wait: float) -> bool:
    """Says what comes of a test, as it comes; whether all has arrived."""
    shown: set[tuple[str, int]] = set()
    arrived: set[tuple[str, str]] = set()
    over: set[tuple[str, str]] = set()
    until = time.monotonic() + wait
    while True:
        found = request("GET", address, "notifications", parameters={"incident": incident})
        for one in reversed(found["notifications"]):
            if (one["delivery_id"], one["attempt"]) in shown:
                continue
            shown.add((one["delivery_id"], one["attempt"]))
            outcome = one["outcome"].replace("_", " ")
            detail = f", {visible(one['detail'])}" if one["detail"] else ""
            typer.echo(f"{one['channel']}, {one['kind']}: {outcome}{detail}")
            if one["outcome"] != "failed":
                over.add((one["channel"], one["kind"]))
            if one["outcome"] == "delivered":
                arrived.add((one["channel"], one["kind"]))
        ends = {channel for channel, kind in over if kind == "resolved"}
        if over and wanted <= over and ends == {channel for channel, _ in over}:
            return arrived == over
        if time.monotonic() > until:
            typer.echo(
                "no notifier has taken it up: does one run, and with a route of this name?"
                if not shown
                else "that is all so far: see --wait",
                err=True,
            )
            return False
        time.sleep(LOOK_EVERY)
