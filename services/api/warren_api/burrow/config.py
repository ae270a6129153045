"""`/v3/config`: Warren's settings where Burrow's clients look for Burrow's.

Field names, types and key order: linkedin/Burrow 1.9.5, core/internal/httpserver/structs.go. What
has no counterpart here is empty, 0 or false. Secrets are not shown: of a webhook only the host, of
a login only the name.

And its health checks, and the log level of this process by the names that Burrow uses.
"""

import json
import logging
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from warren.contracts import Status
from warren.settings import KafkaConnection, Settings

from warren_api.burrow.answers import ADMIN, TEXT, Body, answer, error_response
from warren_api.context import ApiContext
from warren_api.http.names import Segment

_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
}
_NAMES = {level: name for name, level in _LEVELS.items()}  # the last name of a level


def requested(body: bytes) -> str | None:
    """The level that a JSON object names, empty when it names none; None for what is none.

    As Go reads it: the first value of the body counts, and the case of the key does not.
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(body.decode().lstrip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict | None):
        return None
    levels = [v for name, v in (value or {}).items() if name.lower() == "level" and v is not None]
    level = levels[-1] if levels else ""
    return level if isinstance(level, str) else None


def admin_router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/burrow/admin")
    async def admin() -> Response:
        return Response("GOOD", media_type=TEXT)

    @routes.get("/burrow/admin/ready")
    async def ready() -> Response:
        state = context.feed_state()
        if state.standstill:
            return Response(state.standstill, 503, media_type=TEXT)
        if state.ready:
            return Response("READY", media_type=TEXT)
        waits_for = f": {state.problem}" if state.problem else ""
        return Response(f"STARTING{waits_for}", 503, media_type=TEXT)

    @routes.get("/v3/admin/loglevel")
    async def get_log_level(request: Request) -> Response:
        level = _NAMES.get(logging.getLogger().level, "info")
        return answer(request, "log level returned", level=level)

    @routes.post("/v3/admin/loglevel", tags=[ADMIN])
    async def set_log_level(request: Request) -> Response:
        wanted = requested(await request.body())
        if wanted is None:
            return error_response(request, 400, "could not decode message body")
        if wanted.lower() not in _LEVELS:
            return error_response(request, 404, "unknown log level")
        logging.getLogger().setLevel(_LEVELS[wanted.lower()])
        return answer(request, "set log level")

    return routes


DEFAULT = "default"
"""Burrow's name for the only module of a kind."""
TOPIC_REFRESH = 30
"""Seconds after which the collector asks anew which partitions a topic has."""


def main_body(settings: Settings) -> Body:
    """General, logging, zookeeper and httpserver, in the order of Burrow's answer."""
    return {
        "general": {
            "pidfile": "",
            "stdout-logfile": "",
            "access-control-allow-origin": ",".join(settings.api.cors_origins),
        },
        "logging": {
            "filename": "",
            "max-size": 0,
            "max-backups": 0,
            "max-age": 0,
            "use-local-time": False,
            "use-compression": False,
            "level": settings.log.level,
        },
        "zookeeper": {"servers": None, "timeout": 0, "root-path": ""},
        "httpserver": {
            DEFAULT: {
                "address": f"{settings.api.host}:{settings.api.port}",
                "tls": DEFAULT if settings.api.tls_certificate else "",
                "timeout": 0,
            }
        },
    }


def cluster_body(name: str, settings: Settings) -> Body:
    """Of a cluster that only events have come from nothing is known here."""
    configured = settings.clusters.get(name)
    return {
        "class-name": "kafka",
        "servers": _servers(configured.bootstrap) if configured else [],
        "client-profile": _client_profile(name, configured),
        "topic-refresh": TOPIC_REFRESH,
        "offset-refresh": max(round(settings.collector.interval), 1),
    }


def consumer_bodies(settings: Settings) -> dict[str, Body]:
    """One per cluster that is asked for commits, and another where ZooKeeper is."""
    found: dict[str, Body] = {}
    for name, configured in settings.clusters.items():
        for source in configured.sources:
            kafka: Body = {
                "class-name": "kafka",
                "cluster": name,
                "servers": _servers(configured.bootstrap),
                "group-allowlist": _any_of(configured.groups_allow),
                "zookeeper-path": "",
                "zookeeper-timeout": 0,
                "client-profile": _client_profile(name, configured),
                "offsets-topic": configured.offsets_topic,
                "start-latest": False,
            }
            if source != "zookeeper":
                found[name] = kafka
                continue
            servers, slash, path = configured.zookeeper.partition("/")
            zookeeper = {"servers": _servers(servers), "zookeeper-path": slash + path}
            kind = {"class-name": "kafka_zk", "offsets-topic": ""}
            found[f"{name}_zk"] = kafka | zookeeper | kind
    return dict(sorted(found.items()))


def notifier_body(name: str, settings: Settings) -> Body:
    """A channel; what Burrow keeps with it, Warren keeps with the route that leads there."""
    channel = settings.notifier.channels[name]
    written = channel.written()
    route = next((route for route in settings.notifier.routes if name in route.channels), None)
    sends_close = route is not None and route.send_resolved
    shared: Body = {
        "class-name": {"webhook": "http"}.get(channel.type, channel.type),
        "group-allowlist": _any_of(route.groups_allow) if route else "",
        "interval": round(route.repeat_interval) if route else 0,
        "threshold": int(Status[route.minimum_severity]) if route else 0,
    }
    templates: Body = {"template-open": "", "template-close": "", "extra": {}}
    templates["send-close"] = sends_close
    timing: Body = {"timeout": round(channel.timeout), "keepalive": 0}
    trust: Body = {"extra-ca": channel.ca, "noverify": ""}
    match channel.type:
        case "email":
            username, to = written.get("username", ""), written.get("to", [])
            mail = {
                "server": written.get("host", ""),
                "port": written.get("port", 0),
                "auth-type": "plain" if username else "",
                "username": username,
                "from": written.get("sender", ""),
                "to": ",".join(to) if isinstance(to, list) else to,
            }
            return {**shared, **templates, **mail, **trust}
        case "slack":
            return {**shared, **timing, **templates, **_SLACK}
    # Scheme, host and port: paths and queries of webhooks are often keys.
    parts = urlsplit(str(written.get("url", "")))
    host = parts.netloc.rpartition("@")[2]
    url = f"{parts.scheme}://{host}/" if host else ""
    requests = {
        "url-open": url,
        "url-close": url if sends_close else "",
        "method-open": "POST",
        "method-close": "POST" if sends_close else "",
    }
    return {**shared, **timing, **requests, **templates, **trust}


_SLACK: Body = {"channel": "", "username": "", "icon-url": "", "icon-emoji": ""}


def _client_profile(name: str, connection: KafkaConnection | None) -> Body:
    kafka = connection.librdkafka() if connection else {}
    protocol = kafka.get("security.protocol", "").upper()
    return {
        "name": name,
        "client-id": kafka.get("client.id", "warren"),
        "kafka-version": "",  # negotiated with each broker
        "tls": {
            "name": name,
            "noverify": kafka.get("enable.ssl.certificate.verification") == "false",
            "certfile": kafka.get("ssl.certificate.location", ""),
            "keyfile": kafka.get("ssl.key.location", ""),
            "cafile": kafka.get("ssl.ca.location", ""),
        }
        if protocol.endswith("SSL")
        else None,
        "sasl": {
            "name": name,
            "handshake-first": True,
            "username": kafka.get("sasl.username", ""),
        }
        if protocol.startswith("SASL")
        else None,
    }


def _servers(listed: str) -> list[str]:
    return [server.strip() for server in listed.split(",")]


def _any_of(patterns: Sequence[str]) -> str:
    """One regular expression for several."""
    return patterns[0] if len(patterns) == 1 else "|".join(f"({pattern})" for pattern in patterns)


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/v3/config", include_in_schema=False)
    settings = context.settings
    channels = settings.notifier.channels
    one = [DEFAULT]

    @routes.get("")
    async def main(request: Request) -> Response:
        return answer(request, "main config returned", main_body(settings))

    def add(coordinator: str, names: Callable[[], list[str]], of: Callable[[str], Body]) -> None:
        @routes.get(f"/{coordinator}")
        async def modules(request: Request) -> Response:
            listed = {"coordinator": coordinator, "modules": names()}
            return answer(request, "module list returned", listed)

        @routes.get(f"/{coordinator}/{{name}}")
        async def module(request: Request, name: Segment) -> Response:
            return _detail(request, coordinator, of(name) if name in names() else None)

    rules = settings.evaluation
    storage = {
        "class-name": "inmemory",
        "intervals": rules.intervals,
        "min-distance": round(rules.min_distance),
        "group-allowlist": "",
        "expire-group": round(rules.expire_group),
    }
    add("storage", lambda: one, lambda _: storage)
    # Statuses are worked out when something is observed, not kept for a time.
    add("evaluator", lambda: one, lambda _: {"class-name": "caching", "expire-cache": 0})
    add("cluster", lambda: context.clusters, lambda name: cluster_body(name, settings))
    consumers = consumer_bodies(settings)
    add("consumer", lambda: list(consumers), lambda name: consumers[name])
    add("notifier", lambda: sorted(channels), lambda name: notifier_body(name, settings))
    return routes


def cluster_detail(request: Request, context: ApiContext, name: str, **more: Body) -> Response:
    """The same at `/v3/kafka/{cluster}`, which has `more`, and `/v3/config/cluster/{cluster}`."""
    module = cluster_body(name, context.settings) if name in context.clusters else None
    return _detail(request, "cluster", module, **more)


def _detail(request: Request, coordinator: str, module: Body | None, **more: Body) -> Response:
    if module is None:
        return error_response(request, 404, f"{coordinator} module not found")
    return answer(request, f"{coordinator} module detail returned", more, module=module)
