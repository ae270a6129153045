"""`[notifier]`: Warren's routes and channels."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Callable
from email.utils import getaddresses
from typing import Any
from urllib.parse import urlsplit

from warren_cli.burrow_config.clusters import group_filter, settings_name
from warren_cli.burrow_config.table import BurrowTable

_STATUS_CHANGES = "warren.group.status.changed"
_SEVERITIES = {1: "OK", 2: "WARN", 3: "ERR"}
_OF_MAIL = {
    "template-open": "no counterpart: mails have Warren's text",
    "template-close": "no counterpart: mails have Warren's text",
    "extras": "no counterpart: mails have Warren's text",
}
_IN_TEMPLATES = (
    'left out, webhooks get a CloudEvent by POST; a channel with type = "template" has {}: '
    "docs/migration-from-burrow.md, Templates"
)
_OF_HTTP = {
    "template-open": _IN_TEMPLATES.format("body"),
    "template-close": _IN_TEMPLATES.format("close_body"),
    "extras": _IN_TEMPLATES.format("extras"),
    "method-open": _IN_TEMPLATES.format("method"),
    "method-close": _IN_TEMPLATES.format("close_method"),
    "keepalive": "no counterpart",
    "disable-http-keepalive": "no counterpart",
}
_RECEIVER = (
    "its receiver gets a CloudEvent, signed with the secret in its channel, which is new; "
    "a receiver at a private address needs its network in notifier.allow_networks"
)


def notifiers(burrow: BurrowTable, new_secret: Callable[[], str]) -> dict[str, Any]:
    """`new_secret` makes the secret that a webhook is signed with."""
    routes: list[dict[str, Any]] = []
    channels: dict[str, dict[str, Any]] = {}
    networks: list[str] = []
    for table in burrow.table("notifier").tables():
        kind = table.text("class-name")
        if kind == "http":
            channel = _webhook(table, new_secret())
            table.without_counterpart(_OF_HTTP)
            networks += _private_network(table.text("url-open"))
        elif kind == "email":
            channel = _email(table)
            table.without_counterpart(_OF_MAIL)
        else:
            table.remark("class-name", f"left out, {kind!r} has no counterpart")
            continue
        name = settings_name(table)
        channels[name] = channel
        routes.append(_route(table, name))
        table.remark_on_the_rest()
    made: dict[str, Any] = {}
    if networks:
        made["allow_networks"] = list(dict.fromkeys(networks))
    return made | ({"routes": routes, "channels": channels} if routes else {})


def _route(table: BurrowTable, name: str) -> dict[str, Any]:
    """Burrow asks every notifier about every group; so every route is tried."""
    groups = group_filter(table)
    threshold = table.integer("threshold", 2)
    if threshold not in _SEVERITIES:
        table.remark("threshold", "taken for 3, ERR: the statuses of groups are 1, 2 and 3")
    interval = table.integer("interval", 60)
    if "interval" in table:
        table.remark("interval", "kept as repeat_interval only: the first message goes at once")
    repeat = table.integer("send-interval", interval)
    made: dict[str, Any] = {
        "name": name,
        "channels": [name],
        "event_types": [_STATUS_CHANGES],
        "minimum_severity": _SEVERITIES.get(threshold, "ERR"),
        "send_resolved": table.flag("send-close"),
        "repeat_interval": 0 if table.flag("send-once") else repeat,
        "continue_matching": True,
    }
    if groups.allow:
        made["groups_allow"] = groups.allow
    if groups.deny:
        made["groups_deny"] = groups.deny
    return made


def _webhook(table: BurrowTable, secret: str) -> dict[str, Any]:
    url = table.text("url-open")
    made: dict[str, Any] = {
        "type": "webhook",
        "url": url,
        "secret": secret,
        "timeout": max(table.integer("timeout", 5), 1),
    }
    table.remark("url-open", _RECEIVER)
    headers = table.named_texts("headers")
    if username := table.text("username"):
        pair = f"{username}:{table.text('password')}".encode()
        headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    if headers:
        made["headers"] = headers
    if table.text("url-close") not in ("", url):
        table.remark(
            "url-close",
            "left out, ends of incidents go to url-open too; a channel with "
            'type = "template" has close_url',
        )
    return made | _trust(table)


def _email(table: BurrowTable) -> dict[str, Any]:
    port = table.integer("port", 0)
    made: dict[str, Any] = {
        "type": "email",
        "host": table.text("server"),
        "port": port,
        "tls": "tls" if port == 465 else "starttls",
        "sender": _addresses(table.text("from"))[0],
        "to": _addresses(table.text("to")),
    }
    if port not in (465, 587):
        table.remark("port", 'a server without STARTTLS needs tls = "none" in its channel')
    if table.text("auth-type"):
        made["username"] = table.text("username")
        if "password" in table:
            made["password"] = table.text("password")
        else:
            table.remark("password", "not there: add password or password_file to its channel")
    return made | _trust(table)


def _trust(table: BurrowTable) -> dict[str, Any]:
    if table.flag("noverify"):
        table.remark("noverify", "left out, certificates are verified: name the CA in ca_file")
    authority = table.text("extra-ca")
    return {"ca_file": authority} if authority else {}


def _addresses(text: str) -> list[str]:
    """Addresses without the names before them; what is none, as it is."""
    return [address for _, address in getaddresses([text]) if address] or [text]


def _private_network(url: str) -> list[str]:
    """The address in a URL, if webhooks may only reach it when the settings say so."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return ["127.0.0.0/8", "::1/128"]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return []
    return [] if address.is_global else [str(ipaddress.ip_network(address))]
