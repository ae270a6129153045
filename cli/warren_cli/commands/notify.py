"""`warren notify`: who would be told, and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import typer
from warren.clock import SystemClock
from warren.contracts import EVENT_TYPES, STATUS_CHANGED
from warren.errors import SettingsError
from warren.settings_file import load_settings
from warren.silences import group_matcher
from warren.words import duration, visible
from warren_notifier.channels.configured import configured_channels
from warren_notifier.channels.digest import tells_many
from warren_notifier.routing.change import Change, Subject
from warren_notifier.routing.grouping import Grouping
from warren_notifier.routing.routes import Route
from warren_notifier.silences.explanation import ChannelPart, RoutePart, explain

from warren_cli.api_client import ApiRefused, ApiUnavailable, api_address, request
from warren_cli.commands.options import ApiOption, ConfigOption
from warren_cli.commands.status import StatusName

app = typer.Typer(help="Who is told of what, by which route.", no_args_is_help=True)


@app.callback()
def notify() -> None:
    """Who is told of what, by which route."""


@app.command("explain")
def explain_(
    cluster: Annotated[str, typer.Option(help="The group's cluster")],
    group: Annotated[str, typer.Option(help="Its name")],
    status: Annotated[
        StatusName, typer.Option(case_sensitive=False, help="That it is told to have")
    ] = StatusName.ERR,
    event_type: Annotated[
        str, typer.Option("--type", help=f"{', '.join(EVENT_TYPES[:-1])} or {EVENT_TYPES[-1]}")
    ] = STATUS_CHANGED,
    topic: Annotated[str, typer.Option(help="Of the worst partition, for group_by")] = "",
    owner: Annotated[str, typer.Option(help="Of the objective, for group_by")] = "",
    cause: Annotated[str, typer.Option(help="Name of the cause, for group_by")] = "",
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Say of each route whether it takes a change, and what it does about it now.

    From the settings alone; only whether somebody has silenced the group is asked of the API.
    """
    if event_type not in EVENT_TYPES:
        raise SettingsError("--type", f"{visible(event_type)} is none of {', '.join(EVENT_TYPES)}")
    if status is StatusName.UNKNOWN:
        raise SettingsError("--status", "nobody is told that a status is unknown")
    settings, clock = load_settings(config), SystemClock()
    routes = [Route(route) for route in settings.notifier.routes]
    channels = configured_channels(settings.notifier, clock)
    grouping = Grouping(routes, {name for name, one in channels.items() if tells_many(one)})
    subject = Subject(cluster, group, event_type)
    change = Change(
        "",
        subject,
        status.value,
        "",
        "",
        topic=topic,
        owner=owner,
        cause=cause,  # type: ignore[arg-type]  # OK, WARN or ERR
    )
    now = clock.now_ms()
    parts = explain(routes, grouping, change, now)
    if not parts:
        typer.echo("there are no routes: nobody is told of anything")
    for part in parts:
        for line in _lines(part, now):
            typer.echo(line)
    typer.echo(_silence(api or api_address(settings.api), cluster, group, now))


def _lines(part: RoutePart, now: int) -> Iterator[str]:
    if part.why_not is not None:
        yield f"{part.name}: no, {part.why_not}"
        return
    muted = f", muted for {duration(part.muted_until - now)}" if part.muted_until else ""
    yield f"{part.name}: yes{muted}"
    if not part.channels:
        yield "  its channels are told by a route above"
    for channel in part.channels:
        yield f"  {channel.name}: {_grouped(channel)}"
    if part.escalate_to:
        yield f"  after {duration(part.escalate_after_ms)}: {', '.join(part.escalate_to)}"


def _grouped(channel: ChannelPart) -> str:
    wait = f" after {duration(channel.wait_ms)}" if channel.wait_ms else " at once"
    if channel.digest is None:
        return f"alone{wait}"
    labels = [
        f"{label.name} {visible(label.value) or 'unknown'}" for label in channel.digest.labels
    ]
    return f"together with others of {', '.join(labels)}, the first{wait}"


def _silence(address: str, cluster: str, group: str, now: int) -> str:
    try:
        known = request("GET", address, "silences", parameters={"in_force": True})["silences"]
    except (ApiUnavailable, ApiRefused) as error:
        return f"whether it is silenced is not known: {error}"
    for silence in known:
        if group_matcher(silence["cluster"], silence["group"])(cluster, group):
            until = datetime.fromtimestamp(silence["ends_at"] / 1000, UTC)
            left = duration(silence["ends_at"] - now)
            return (
                f"silenced for {left}, until {until:%Y-%m-%d %H:%M:%S} UTC, by "
                f"{visible(silence['by'])}: {visible(silence['why'])} (silence {silence['id']})"
            )
    return "not silenced"
