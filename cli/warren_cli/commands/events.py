"""`warren events`: status changes, those remembered and those to come."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from warren.words import visible

from warren_cli.api_client import ApiRefused, ApiUnavailable, sent_headers, without_login
from warren_cli.commands.options import ApiOption, ConfigOption, asked_address
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, because
from warren_cli.resources.output import Form, FormOption, fetch, write_document

if TYPE_CHECKING:
    import httpx

AGAIN_AFTER = 2.0  # seconds
_SILENT_FOR = 60.0  # seconds; the API says something every 15
_GAP = "warren.gap"


def events(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C")
    ] = False,
    cluster: Annotated[str | None, typer.Option(help="Only of this cluster")] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Only groups whose name matches somewhere (a regular expression, RE2)"),
    ] = None,
    last: Annotated[int, typer.Option(min=0, help="So many that are remembered, at most")] = 20,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Show status changes of groups, oldest first.

    With --follow it goes on where it was when the API comes back. Exit 1: the API does not answer;
    2: it takes the expression for a wrong one.
    """
    address = asked_address(config, api).rstrip("/")
    query = {name: value for name, value in (("cluster", cluster), ("regex", group)) if value}
    remembered = _remembered(address, query)
    for change in remembered[len(remembered) - min(last, len(remembered)) :]:
        _write(change, output)
    if follow:
        try:
            _follow(address, query, {change["id"] for change in remembered}, output)
        except KeyboardInterrupt:
            return


def _remembered(address: str, query: dict[str, str]) -> list[dict[str, Any]]:
    """Changes of the incidents that the API remembers, by time. Raises as `fetch` does."""
    found = [
        {"cluster": incident["cluster"], "group": incident["group"], **change}
        for incident in fetch(INCIDENTS, address, query).rows
        for change in incident["changes"]
    ]
    return sorted(found, key=lambda change: (change["at"], change["id"]))


def _follow(address: str, query: dict[str, str], seen: set[str], output: Form) -> None:
    """What comes; `seen` was written already."""
    import httpx  # which takes long to load, here and below
    from httpx_sse import SSEError

    position: str | None = None
    told: str | None = None
    while True:
        try:
            for stands_at, change in _stream(address, query, position):
                if position is None and not _list_once_more(address, query, seen, output):
                    continue  # where it stands next
                position, told = stands_at, None
                if change is not None and change["id"] not in seen:
                    _write(change, output)
        except (httpx.HTTPError, SSEError, ApiRefused) as error:
            problem = str(error).rstrip(".") or type(error).__name__
            says = "answers" if isinstance(error, ApiRefused) else "does not answer"
            if problem != told:  # once, however long it lasts
                told = problem
                typer.echo(
                    f"warren: {without_login(address)} {says}: {problem}; asking again", err=True
                )
        time.sleep(AGAIN_AFTER)


def _list_once_more(address: str, query: dict[str, str], seen: set[str], output: Form) -> bool:
    """What came after the list was made and before the stream began. Whether the API answered."""
    try:
        remembered = _remembered(address, query)
    except (ApiUnavailable, ApiRefused):
        return False
    for change in remembered:
        if change["id"] not in seen:
            seen.add(change["id"])
            _write(change, output)
    return True


def _stream(
    address: str, query: dict[str, str], position: str | None
) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Where the stream stands, each time it says so, with the change that brought it there: None at
    its beginning and while nothing comes.
    """
    import httpx
    from httpx_sse import connect_sse

    headers = {} if position is None else {"Last-Event-ID": position}
    url = f"{address}/api/v1/events"
    with (
        httpx.Client(
            headers=sent_headers(),
            timeout=_SILENT_FOR,
            trust_env=False,
            verify=ssl.create_default_context(),
        ) as client,
        connect_sse(client, "GET", url, params=query, headers=headers) as source,
    ):
        if source.response.is_client_error:
            source.response.read()
            raise ApiUnavailable(f"{without_login(address)}: {visible(source.response.text)}")
        if source.response.is_server_error:
            source.response.read()
            raise ApiRefused(_detail(source.response))
        for event in source.iter_sse():
            if event.event == _GAP:
                typer.echo("warren: some changes are no longer remembered", err=True)
            elif event.data:
                cloud = json.loads(event.data)
                at = datetime.fromisoformat(cloud["time"]).timestamp() * 1000
                yield event.id, {**cloud["data"], "id": cloud["id"], "at": round(at)}
            elif event.id:
                yield event.id, None


def _detail(response: httpx.Response) -> str:
    """Of a problem; of anything else what it is called."""
    try:
        return visible(str(response.json()["detail"]))
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code} {response.reason_phrase}"


def _write(change: dict[str, Any], output: Form) -> None:
    """One line, or one entry of a list in YAML: more may follow."""
    if output is Form.JSON:
        typer.echo(json.dumps(change, ensure_ascii=False))
        return
    if output is Form.YAML:
        write_document([change], output)
        return
    if output is Form.NAME:
        typer.echo(visible(GROUPS.identity(change)))
        return
    at = datetime.fromtimestamp(change["at"] / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = f"{change['cluster']}/{change['group']}"
    why = because(change, brief=output is not Form.WIDE) or ""
    line = f"{at} {name} {change['previous'] or '-'} -> {change['status']} {why}"
    typer.echo(visible(line).rstrip())
