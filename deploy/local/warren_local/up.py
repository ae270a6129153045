"""`warren up`: servers, services and demo in one go, until it is told to stop."""

import os
import shutil
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from rich.console import Console
from warren.clock import Clock, SystemClock
from warren.errors import KafkaError
from warren.kafka.connection import await_connection
from warren.kafka.topics import ensure_topics
from warren.settings import ArchiverSettings, Settings
from warren.settings_file import SettingsWatch, with_all_of

from warren_local.arrivals import ArrivalsFollower
from warren_local.jars import KAFKA_JARS, SPARK_JARS, ensure_jars, find_java
from warren_local.kafka import EmbeddedKafka, KafkaOptions
from warren_local.plan import DEMO_WEBHOOK_SECRET, SERVICES, Plan
from warren_local.run_file import (
    SETTINGS_FILE,
    RunFile,
    RunState,
    stop_leftovers,
    write_effective,
)
from warren_local.server import (
    HOST,
    EmbeddedValkey,
    ProcessServer,
    StartRefused,
    Stopped,
    await_ready,
    free_port,
)
from warren_local.state_folder import LOGS, Held, guard, instance_name, make_state_folder
from warren_local.supervisor import Service, Supervisor

# Stages: what others need stops last.
_SERVERS, _RECEIVERS, _WARREN, _WORKLOAD = range(4)
ARRIVALS = MAILS, WEBHOOKS = "mails.jsonl", "webhooks.jsonl"


def server_service(name: str, server: ProcessServer) -> Service:
    server.prepare()
    return Service(name, server.command(), _SERVERS)


def warren_services(plan: Plan, config: Path) -> list[Service]:
    """Warren's own services, and the demo workload where it is wanted."""
    environ = child_environ(os.environ)
    services = [
        Service(
            name,
            [sys.executable, "-m", f"warren_{name}", "--config", str(config)],
            _WARREN,
            environ=environ,
        )
        for name in SERVICES
        if name not in plan.without
    ]
    if plan.demo:
        if "notifier" not in plan.without:
            services = [*_receivers(plan, environ), *services]
        command = [sys.executable, "-m", "warren_local.demo", "--config", str(config)]
        command += ["--cluster", plan.cluster]
        command += ["--after", f"http://{HOST}:{plan.settings.collector.metrics_port}/ready"]
        services.append(Service("demo", command, _WORKLOAD, environ=environ))
    return services


def _receivers(plan: Plan, environ: Mapping[str, str]) -> list[Service]:
    """Where the demo's notifications arrive."""
    ports, state = plan.demo_ports, plan.state_dir
    mailbox = ["warren_local.mailbox", "--port", str(ports.mailbox), "--out", str(state / MAILS)]
    receiver = ["warren_local.webhook_receiver", "--port", str(ports.webhooks)]
    receiver += ["--secret", DEMO_WEBHOOK_SECRET, "--out", str(state / WEBHOOKS)]
    return [
        Service(name, [sys.executable, "-m", *arguments], _RECEIVERS, environ=environ)
        for name, arguments in (("mailbox", mailbox), ("webhooks", receiver))
    ]


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without Warren's variables: they are in the effective warren.toml already,
    where flags of `warren up` have overruled them.
    """
    return {name: text for name, text in environ.items() if not name.startswith("WARREN_")} | {
        "PYTHONUNBUFFERED": "1"
    }


CONNECT_TIMEOUT = 5.0  # seconds for one attempt; it is also how long Ctrl-C may take meanwhile
LOOK_EVERY = 0.1  # seconds between two looks at the processes
LOOK_AT_SETTINGS_EVERY = 1.0
# Of a demo before this one: its broker was another, so offsets and tables mean nothing now.
_DEMO_STATE = ("evaluator", "lake", "reports")


class Screen(Protocol):
    """Terminal or plain output; implemented by the command. No method fails when nobody reads."""

    def say(self, line: str) -> None:
        """One line, at once."""

    def follow(self, url: str) -> None:
        """From now on show the groups that the API at `url` knows."""

    def close(self) -> None:
        """Stop showing groups; `say` still works."""


def run(
    plan: Plan,
    screen: Screen,
    stop: threading.Event,
    clock: Clock | None = None,
    watch: SettingsWatch | None = None,
    hurry: threading.Event | None = None,
) -> None:
    """Run until `stop` is set; everything that was started has ended when this returns.

    `watch` tells of other filters and objectives in the user's file: the services' file follows.
    Once `hurry` is set, too, what still runs is killed.

    Raises StartRefused before anything is started, ServerFailed when a server does not come up.
    """
    make_state_folder(plan.state_dir)
    try:
        with guard(plan.state_dir / "up.guard", wait=False):
            if plan.draws_name:
                plan = plan.called(instance_name(plan.state_dir))
                home = plan.settings.home
                screen.say(
                    f"this Warren is called {home.instance}, and its topics on {home.bootstrap} "
                    f"begin with {home.topic_prefix} (--instance NAME for another name)"
                )
            _Run(plan, screen, stop, clock or SystemClock(), watch, hurry).run()
    except Held as held:
        raise StartRefused(
            f"`warren up` already runs with {plan.state_dir}: stop it, or choose another directory "
            "with --state-dir or WARREN_LOCAL__STATE_DIR"
        ) from held
    except Stopped:
        screen.say("stopped")


class _Run:
    def __init__(
        self,
        plan: Plan,
        screen: Screen,
        stop: threading.Event,
        clock: Clock,
        watch: SettingsWatch | None,
        hurry: threading.Event | None,
    ) -> None:
        self._plan = plan
        self._settings = plan.settings
        self._clock = clock
        own = plan.state_dir / SETTINGS_FILE  # which is not the user's
        self._watch = None if watch is None or watch.file.resolve() == own.resolve() else watch
        self._looked_at = clock.monotonic()
        self._screen = screen
        self._stop = stop
        self._logs = plan.state_dir / LOGS
        self._run_file = RunFile(plan.state_dir)
        self._state = run_state(plan)
        self._arrivals = [ArrivalsFollower(plan.state_dir / name) for name in ARRIVALS]
        self._supervisor = Supervisor(
            logs=self._logs,
            clock=clock,
            report=screen.say,
            on_pids=self._note_pids,
            hurry=hurry,
        )

    def run(self) -> None:
        for name in stop_leftovers(self._run_file):
            self._screen.say(f"stopped {name}, left over from a run that was killed")
        ports = self._plan.ports()
        for port in ports:
            port.require_free(ports)
        kafka = self._kafka() if self._plan.kafka else None
        try:
            if self._start_servers(kafka) and self._prepare_home():
                self._start_services()
                while not self._stop.wait(LOOK_EVERY):
                    self._supervisor.watch()
                    self._follow_settings()
                    # Mails and webhooks of the demo, as they arrive.
                    for follower in self._arrivals:
                        for line in follower.new_headlines():
                            self._screen.say(line)
        except Stopped:
            pass  # told to stop while Spark's jars were fetched: it ends as always
        finally:
            try:
                self._screen.close()
                self._screen.say("stopping")
            finally:  # whatever became of the screen
                self._supervisor.stop()
                self._run_file.remove()
            self._screen.say("stopped")

    def _kafka(self) -> EmbeddedKafka:
        """The broker. A demo starts on an empty one each time; without a demo data are kept."""
        local = self._plan.settings.local
        java = find_java(os.environ)
        jars = ensure_jars(KAFKA_JARS, self._settings, Console(stderr=True), stop=self._stop)
        data_dir = self._plan.state_dir / ("demo-kafka" if self._plan.demo else "kafka")
        if self._plan.demo:
            for stale in (data_dir, *(self._plan.state_dir / name for name in _DEMO_STATE)):
                shutil.rmtree(stale, ignore_errors=True)
            for follower in self._arrivals:
                follower.path.unlink(missing_ok=True)
        options = KafkaOptions(local.kafka_port, free_port(), data_dir)
        return EmbeddedKafka(options, java=java, jars=jars, log=self._logs / "kafka.log")

    def _start_servers(self, kafka: EmbeddedKafka | None) -> bool:
        """Start Kafka and Valkey together; True once they serve, False when told to stop."""
        servers: dict[str, ProcessServer] = {}
        if self._plan.valkey:
            servers["redis"] = EmbeddedValkey(
                self._plan.settings.local.redis_port,
                data_dir=self._plan.state_dir / "redis",
                log=self._logs / "redis.log",
            )
        if kafka is not None:
            self._screen.say(f"starting Kafka at {kafka.bootstrap}")
            servers["kafka"] = kafka
        started = [
            (server, self._supervisor.start(server_service(name, server)))
            for name, server in servers.items()
        ]
        return all(
            await_ready(server.title, child, server.is_ready, stop=self._stop, say=self._screen.say)
            for server, child in started
        )

    def _prepare_home(self) -> bool:
        """Create Warren's topics; waits for the home cluster. False when told to stop."""
        home = self._plan.settings.home
        if not self._plan.kafka:
            self._screen.say(f"connecting to {home.bootstrap}")
        admin = await_connection("home", "home", home, self._stop, CONNECT_TIMEOUT)
        if admin is None:
            return False
        if home.create_topics:
            try:
                ensure_topics(admin, home)
            except KafkaError as problem:  # the services say so as well, and try again
                self._screen.say(str(problem))
        return True

    def _start_services(self) -> None:
        self._settings = self._settings_with_jars()
        config = write_effective(self._settings, self._plan.state_dir)
        for service in warren_services(self._plan, config):
            self._supervisor.start(service)
        self._screen.say(f"logs: {self._logs}")
        self._screen.follow(self._state.api)

    def _follow_settings(self) -> None:
        now = self._clock.monotonic()
        if self._watch is None or now - self._looked_at < LOOK_AT_SETTINGS_EVERY:
            return
        self._looked_at = now
        if (changed := self._watch.look()) is not None:
            before, self._settings = self._settings, with_all_of(changed, self._settings)
            write_effective(self._settings, self._plan.state_dir)
            are_objectives = before.objectives != self._settings.objectives
            self._screen.say("objectives changed" if are_objectives else "filters changed")

    def _settings_with_jars(self) -> Settings:
        """Those of the plan; the archiver is told where its jars are."""
        settings = self._plan.settings
        if "archiver" in self._plan.without:
            return settings
        jars = ensure_jars(SPARK_JARS, settings, Console(stderr=True), stop=self._stop)
        archiver = settings.archiver.model_dump(exclude_unset=True, by_alias=True) | {
            "jars_dir": str(jars)
        }
        return settings.model_copy(update={"archiver": ArchiverSettings(**archiver)})

    def _note_pids(self, pids: dict[str, list[int]]) -> None:
        self._state = self._state.with_pids(pids)
        self._run_file.write(self._state)


def run_state(plan: Plan) -> RunState:
    """run.json before anything runs."""
    settings = plan.settings
    # host:port of a redis:// URL, without user and password.
    return RunState(
        api=settings.api.address,
        kafka=settings.clusters[plan.cluster].bootstrap,
        home_kafka=settings.home.bootstrap,
        redis=urlsplit(settings.redis.url.get_secret_value()).netloc.rpartition("@")[2],
        cluster=plan.cluster,
        supervisor=os.getpid(),
    )
