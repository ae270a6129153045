"""What `warren up` is going to run: decided from settings and options, before anything starts.

| given | monitored | home | embedded | demo |
|---|---|---|---|---|
| nothing | `demo`, the embedded broker | the same | Kafka, Valkey | yes |
| `--bootstrap` | that cluster, and those of warren.toml | that cluster | Valkey | no |
| clusters in warren.toml | those | the embedded broker | Kafka, Valkey | no |

A home that is named (`--home-bootstrap`, `[home] bootstrap`) is used in each case, a Redis that is
named (`[redis] url`) as well.

Where Warren's topics are made on the cluster of `--bootstrap`, another Warren may be at home there
already: this one gets a name that no other has, unless it is given one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError
from warren.errors import SettingsError
from warren.installation import NAME_PATTERN
from warren.settings import ClusterSettings, EvaluationOverride, Settings, named_servers
from warren.settings_file import explained

from warren_local.server import HOST, Port

DEMO_CLUSTER = "demo"
DEMO_GROUPS = "^demo-"
DEMO_WEBHOOK_SECRET = "whsec_d2FycmVuLWRlbW8tc2VjcmV0LW9ubHktZm9yLWxvb3BiYWNr"
DEFAULT_CLUSTER = "default"
SERVICES = ("collector", "evaluator", "freshness", "notifier", "api", "archiver")
OPTIONAL = ("freshness", "notifier", "archiver")
"""Services that the others do without."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line of `warren up`; None where nothing was said."""

    bootstrap: str | None = None
    home_bootstrap: str | None = None
    cluster: str | None = None
    api_port: int | None = None
    kafka_port: int | None = None
    redis_port: int | None = None
    state_dir: str | None = None
    instance: str | None = None
    demo: bool = True
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoPorts:
    """Ports that only the demo needs; nobody but its own processes connects to them.

    At `probe` the workload asks whether the collector watches, unless a port is set for that.
    """

    probe: int
    mailbox: int
    webhooks: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`settings` are those in force for the services, all choices made."""

    settings: Settings
    cluster: str
    """The cluster that run.json names: the one given or embedded, else the first."""
    kafka: bool
    """Whether a broker is embedded."""
    valkey: bool
    demo: bool
    demo_ports: DemoPorts
    draws_name: bool
    """Whether `settings` want for a name of this Warren's own: see `called`."""
    without: frozenset[str] = frozenset()
    """Services that are not wanted."""

    @property
    def state_dir(self) -> Path:
        return Path(self.settings.local.state_dir)

    def called(self, instance: str) -> Plan:
        """The same for a Warren of that name."""
        settings = _replaced(self.settings, "home", instance=instance)
        return replace(self, settings=settings, draws_name=False)

    def ports(self) -> list[Port]:
        """The ports that must be free."""
        settings = self.settings
        kafka = Port(
            settings.local.kafka_port,
            "the embedded Kafka broker",
            "--kafka-port",
            "WARREN_LOCAL__KAFKA_PORT",
        )
        valkey = Port(
            settings.local.redis_port,
            "the embedded Valkey",
            "--redis-port",
            "WARREN_LOCAL__REDIS_PORT",
        )
        api = Port(settings.api.port, "the API", "--api-port", "WARREN_API__PORT")
        return [api, *([kafka] if self.kafka else []), *([valkey] if self.valkey else [])]


def make_plan(given: Settings, options: Options, *, demo_ports: DemoPorts) -> Plan:
    """Decide. `given` is what warren.toml and the environment say. Raises SettingsError."""
    for option, servers in (
        ("--bootstrap", options.bootstrap),
        ("--home-bootstrap", options.home_bootstrap),
    ):
        if servers:
            named_servers(option, servers)
    for service in options.without:
        if service not in OPTIONAL:
            raise SettingsError("--without", f"{service!r} is none of {', '.join(OPTIONAL)}")
    settings = _with_ports(given, options)
    if settings.api.port == 0:
        raise SettingsError("api.port", "`warren up` needs a number, 0 would be a random one")
    home_is_named = options.home_bootstrap or "bootstrap" in given.home.model_fields_set
    embedded_home = not home_is_named and not options.bootstrap
    embedded_cluster = not options.bootstrap and not given.clusters
    kafka = embedded_home or embedded_cluster
    demo = embedded_cluster and options.demo
    name = options.cluster or (DEMO_CLUSTER if embedded_cluster else DEFAULT_CLUSTER)
    if options.bootstrap or embedded_cluster:
        address = options.bootstrap or f"{HOST}:{settings.local.kafka_port}"
        settings = _monitoring(settings, name, address)
    elif options.cluster is None:
        name = next(iter(given.clusters))
    elif options.cluster not in given.clusters:
        raise SettingsError("--cluster", "names the cluster of --bootstrap, which is not given")
    settings = _with_home(settings, options, name, embedded=embedded_home)
    valkey = "url" not in given.redis.model_fields_set
    settings = _unless_set(
        settings,
        given,
        redis={"url": f"redis://{HOST}:{settings.local.redis_port}/0"},
        probe={"host": HOST},
    )
    if demo:
        settings = _for_demo(settings, given, demo_ports)
    # A prefix that is set is a name, too: topics of that prefix are this Warren's.
    return Plan(
        settings=settings,
        cluster=name,
        kafka=kafka,
        valkey=valkey,
        demo=demo,
        demo_ports=demo_ports,
        draws_name=not (
            home_is_named
            or embedded_home
            or bool({"instance", "topic_prefix"} & settings.home.model_fields_set)
        ),
        without=frozenset(options.without),
    )


def _with_ports(given: Settings, options: Options) -> Settings:
    local = {
        "kafka_port": options.kafka_port,
        "redis_port": options.redis_port,
        "state_dir": options.state_dir,
    }
    settings = _replaced(given, "local", **{k: v for k, v in local.items() if v is not None})
    state = str(Path(settings.local.state_dir).resolve())
    settings = _replaced(settings, "local", state_dir=state)
    if options.instance is not None:
        if not re.fullmatch(NAME_PATTERN, options.instance):
            raise SettingsError("--instance", "only letters, digits, . _ - are allowed, at most 64")
        settings = _replaced(settings, "home", instance=options.instance)
    if options.api_port is not None:
        settings = _replaced(settings, "api", port=options.api_port)
    settings = _unless_set(
        settings,
        given,
        evaluator={"data_dir": str(Path(state, "evaluator"))},
        archiver={"path": str(Path(state, "lake"))},
        api={"reports_dir": str(Path(state, "reports"))},
    )
    if "archiver" in options.without:
        settings = _replaced(settings, "api", reports_dir="")
    return settings


def _monitoring(settings: Settings, name: str, bootstrap: str) -> Settings:
    """A cluster of that name keeps its other settings (security, filters): only the address."""
    table = (
        settings.clusters[name].model_dump(exclude_unset=True, by_alias=True)
        if name in settings.clusters
        else {}
    )
    cluster = ClusterSettings(**{**table, "bootstrap": bootstrap})
    return settings.model_copy(update={"clusters": {**settings.clusters, name: cluster}})


def _with_home(settings: Settings, options: Options, cluster: str, *, embedded: bool) -> Settings:
    if options.home_bootstrap:
        return _replaced(settings, "home", bootstrap=options.home_bootstrap)
    if embedded:
        return _replaced(settings, "home", bootstrap=f"{HOST}:{settings.local.kafka_port}")
    if "bootstrap" in settings.home.model_fields_set:
        return settings
    at = settings.clusters[cluster]  # the same cluster, reached in the same way
    return _replaced(
        settings, "home", bootstrap=at.bootstrap, kafka=settings.home.kafka or at.kafka
    )


def _for_demo(settings: Settings, given: Settings, ports: DemoPorts) -> Settings:
    """Short intervals, so that every status shows within a minute; what is set stays.

    The demo's groups play the statuses of Burrow's rules, each within a minute, and are judged by
    them, once half of a window is filled: a young one would show false alarms.
    """
    if not given.collector.metrics_port:
        settings = _replaced(settings, "collector", metrics_port=ports.probe)
    if "policy" not in given.evaluation.model_fields_set:
        rules = EvaluationOverride(groups=[DEMO_GROUPS], policy="burrow", minimum_complete=0.5)
        overrides = [*given.evaluation.overrides, rules]  # the first one counts most
        settings = _replaced(settings, "evaluation", overrides=overrides)
    return _unless_set(
        settings,
        given,
        collector={"interval": 1.0, "heartbeat": 1.0},
        evaluation={"intervals": 10, "min_distance": 1.0},
        freshness={"interval": 2.0, "retention_refresh": 30.0},
        notifier=_demo_notifications(
            settings, ports, own=_CHANNELS & given.notifier.model_fields_set
        ),
    )


_CHANNELS = {"channels", "routes"}


def _demo_notifications(
    settings: Settings, ports: DemoPorts, own: Collection[str]
) -> dict[str, object]:
    """All goes to the embedded mailbox, told together, and to the embedded webhook receiver; but
    where somebody has channels or routes of his `own`.
    """
    places: dict[str, object] = {
        "link_base": f"http://{HOST}:{settings.api.port}",
        "allow_networks": [f"{HOST}/32"],
    }
    if own:
        return places
    return places | {
        "channels": {
            "mailbox": {
                "type": "email",
                "host": HOST,
                "port": ports.mailbox,
                "tls": "none",
                "sender": "warren@demo.invalid",
                "to": ["on-call@demo.invalid"],
            },
            "receiver": {
                "type": "webhook",
                "url": f"http://{HOST}:{ports.webhooks}/",
                "secret": DEMO_WEBHOOK_SECRET,
            },
        },
        "routes": [
            {
                "name": "people",
                "channels": ["mailbox"],
                "group_wait": 5,
                "group_interval": 30,
                "continue_matching": True,
            },
            {"name": "machines", "channels": ["receiver"]},
        ],
    }


def _unless_set(settings: Settings, given: Settings, **wanted: dict[str, object]) -> Settings:
    """Values of some sections replaced, but for those that are set."""
    for section, values in wanted.items():
        named = getattr(given, section).model_fields_set
        if left := {name: value for name, value in values.items() if name not in named}:
            settings = _replaced(settings, section, **left)
    return settings


def _replaced(settings: Settings, section: str, **values: object) -> Settings:
    """The settings with some values of a section replaced. Raises SettingsError."""
    old = getattr(settings, section)
    table = {**old.model_dump(exclude_unset=True, by_alias=True), **values}
    try:
        return settings.model_copy(update={section: type(old)(**table)})
    except ValidationError as error:
        raise explained(error, type(old), (section,)) from None
