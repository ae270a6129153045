"""`warren up`: everything on this machine with one command.

It shows a live table on a terminal, plain lines elsewhere.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from warren.clock import Clock, SystemClock
from warren.errors import SettingsError, WarrenError
from warren.log import configure
from warren.settings import ApiSettings, LogSettings
from warren.settings_file import ALL, SettingsWatch, load_settings
from warren.words import shortened, visible
from warren_local.plan import OPTIONAL, DemoPorts, Options, make_plan
from warren_local.server import StartRefused, free_port
from warren_local.up import run

from warren_cli.api_client import sent_token
from warren_cli.commands.config import refuse_unusable
from warren_cli.commands.options import FileOption
from warren_cli.resources.catalogue import GROUPS, STATUS, lag, reason, worst_partition
from warren_cli.resources.output import Listing, fetch, resource_table
from warren_cli.terminal import stop_on_signals

INTERVAL = 1.0  # seconds between two requests
LONGEST_NAME, LONGEST_LINE = 120, 1000  # characters: names have up to 65,535
PATIENCE = 5.0  # seconds for an answer that is under way at the end


class GroupFeed:
    """Calls `on_answer` for each request, with None where no answer came.

    Raises SettingsError for a token that cannot be sent.
    """

    def __init__(self, url: str, on_answer: Callable[[Listing | None], None]) -> None:
        sent_token()
        self._url = url
        self._on_answer = on_answer
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="group-feed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No call comes any more once this returns."""
        self._stop.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                answer = fetch(GROUPS, self._url, {})
            except WarrenError:
                answer = None
            if self._stop.is_set():
                return
            self._on_answer(answer)
            self._stop.wait(INTERVAL)


class LastingConsole(Console):
    """A console that outlives its reader, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


class PlainScreen:
    """A line for each event: for logs, pipes and CI."""

    def __init__(self, console: Console, clock: Clock | None = None) -> None:
        self._console = console
        self._clock = clock or SystemClock()
        self._feed: GroupFeed | None = None
        self._statuses: dict[tuple[str, str], str] = {}
        self._url = ""

    def say(self, line: str) -> None:
        """Print as it is; the end of the terminal or of the pipe is no reason to fail."""
        shown = shortened(visible(line), LONGEST_LINE)
        with suppress(OSError):
            self._console.print(shown, markup=False, highlight=False, soft_wrap=True)

    def follow(self, url: str) -> None:
        self._url = url
        self._feed = GroupFeed(url, self._answer)

    def close(self) -> None:
        if self._feed:
            self._feed.close()

    def _answer(self, answer: Listing | None) -> None:
        if answer is None:
            return
        if self._url:
            self.say(f"dashboard: {self._url}/")
            self._url = ""
        for group in answer.rows:
            name = (group["cluster"], group["group"])
            previous = self._statuses.get(name)
            if previous != group["status"] and group["status"] is not None:
                self._statuses[name] = group["status"]
                self.say(change_line(group, previous, self._clock.now_ms()))


class TableScreen(PlainScreen):
    """The table of groups, drawn anew each second, below the lines that were said."""

    def __init__(self, console: Console, clock: Clock | None = None) -> None:
        super().__init__(console, clock)
        self._answered: Listing | None = None
        self._silent = False
        self._live: Live | None = None

    def follow(self, url: str) -> None:
        self._live = Live(
            get_renderable=self._render,
            console=self._console,
            refresh_per_second=2,
            vertical_overflow="ellipsis",
        )
        self._live.start()
        super().follow(url)

    def close(self) -> None:
        super().close()
        if self._live:
            with suppress(OSError):
                self._live.stop()

    def _answer(self, answer: Listing | None) -> None:
        if self._url and answer is not None:
            self.say(f"dashboard: {self._url}/   (Ctrl-C stops everything)")
            self._url = ""
        self._answered, self._silent = answer or self._answered, answer is None

    def _render(self) -> Group | Text:
        if self._answered is None:
            return Text("starting the services", style="dim")
        groups, now = self._answered.rows, self._clock.now_ms()
        table, left_out = resource_table(STATUS, groups, self._console.width, now_ms=now)
        doubts = list(self._answered.body["doubts"])
        if not groups:
            doubts.append("no group has been judged yet")
        if self._silent:
            doubts.append("the API does not answer at the moment")
        said = (Text(visible(doubt), style="yellow") for doubt in doubts)
        return Group(Text(), table, Text(left_out, style="dim"), *said)


def change_line(group: Mapping[str, Any], previous: str | None, now_ms: int) -> str:
    """A change of status, or a group seen for the first time, on one line."""
    was = "" if previous is None else f" (was {previous})"
    worst = worst_partition(group)
    where = "" if worst == "-" else f", worst {worst}"
    name = shortened(f"{group['cluster']}/{group['group']}", LONGEST_NAME)
    said = reason(group, now_ms)
    because = f": {said}" if said else ""
    status = group["status"] or "not judged"
    return visible(f"{name}: {status}{was}, lag {lag(group)}{where}{because}")


def _refuse_unusable_api(api: ApiSettings) -> None:
    """Raise SettingsError for what the API would not start with."""
    from warren_api.http.access import Access
    from warren_api.server import check_tls, listen, login_of

    check_tls(api)
    login_of(api, SystemClock())
    with listen(api.model_copy(update={"port": 0})) as listener:
        Access(api, is_loopback=ip_address(listener.getsockname()[0]).is_loopback)


def up(
    bootstrap: Annotated[
        str | None,
        typer.Option(help="Monitor this cluster, host:port[,host:port]; without it: a demo"),
    ] = None,
    home_bootstrap: Annotated[
        str | None, typer.Option(help="Keep Warren's own topics on this cluster")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Name of that cluster; default `default`, or `demo`")
    ] = None,
    config: FileOption = None,
    api_port: Annotated[int | None, typer.Option(min=1, max=65535, help="Of the API")] = None,
    kafka_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the embedded broker")
    ] = None,
    redis_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the embedded Valkey")
    ] = None,
    state_dir: Annotated[
        str | None, typer.Option(help="Directory for everything that is written")
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(
            help="Name of this Warren; default `warren`, or on the cluster of --bootstrap one that "
            "is drawn"
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo/--no-demo", help="Run the demo workload on the embedded broker")
    ] = True,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE",
            help=f"Do not start it: {', '.join(OPTIONAL)}; the archiver takes the most memory",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Lines instead of a table, as without a terminal")
    ] = False,
) -> None:
    """Start Kafka, Valkey and all services here, with demo groups or for your own cluster.

    Runs until Ctrl-C or SIGTERM; a second Ctrl-C kills what still runs. Exit 2: nothing was
    started, because of the reason printed.
    """
    options = Options(
        bootstrap=bootstrap,
        home_bootstrap=home_bootstrap,
        cluster=cluster,
        api_port=api_port,
        kafka_port=kafka_port,
        redis_port=redis_port,
        state_dir=state_dir,
        instance=instance,
        demo=demo,
        without=tuple(without or ()),
    )
    hurry = threading.Event()
    stop = stop_on_signals(hurry)
    console = LastingConsole()
    table = console.is_terminal and not plain
    try:
        sent_token()  # one that cannot be sent is refused before anything starts
        ports = DemoPorts(probe=free_port(), mailbox=free_port(), webhooks=free_port())
        settings = load_settings(config)
        plan = make_plan(settings, options, demo_ports=ports)
        refuse_unusable(plan.settings)
        _refuse_unusable_api(plan.settings.api)
        configure(LogSettings(level="warning", format="console"), service="up")
        screen = TableScreen(console) if table else PlainScreen(console)
        run(plan, screen, stop, watch=SettingsWatch(config, settings, ALL), hurry=hurry)
    except (StartRefused, SettingsError) as refusal:
        print(f"warren: {refusal}", file=sys.stderr)
        raise typer.Exit(2) from None
