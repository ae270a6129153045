"""Opsgenie, and Jira Service Management, which serves the same alerts after it.

https://docs.opsgenie.com/docs/alert-api: `POST /v2/alerts` creates an alert or counts up the open
one with the same `alias`, `POST /v2/alerts/<alias>/acknowledge?identifierType=alias` acknowledges
it, `…/close` likewise closes it; all answer 202. A message has 130 characters at most, an alias and
an entity 512, a description 15,000, a source 100, details 8,000 together, tags 50 characters, 20 of
them, a user 100, a note 25,000. Atlassian has announced that Opsgenie ends
(https://docs.opsgenie.com/docs). The integrations of Jira Service Management take the same requests
with the same kind of key at https://api.atlassian.com/jsm/ops/integration, but no change of
priority, and teams by their ids:
https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from warren.clock import Clock
from warren.contracts import Acknowledged, GroupStatusName, PendingDelivery
from warren.settings.channels import OpsgenieChannelSettings
from warren.words import shortened, visible

from warren_notifier.channels.channel import Delivered, Refused, Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_channel import HttpChannel
from warren_notifier.channels.http_endpoint import HttpEndpoint
from warren_notifier.channels.incident_key import incident_key
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.state.delivery import Delivery

MESSAGE, ALIAS, ENTITY = 130, 512, 512  # characters
DESCRIPTION, TAG, DETAIL = 15_000, 50, 1_000  # characters; of details there are four at most
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
PRIORITIES: dict[GroupStatusName, str] = {"WARN": "P3", "ERR": "P1"}


class OpsgenieChannel(HttpChannel):
    """One integration. An alert's alias is the incident's id."""

    takes_acknowledgements = True

    def __init__(
        self, settings: OpsgenieChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        key = settings.api_key.get_secret_value()
        endpoint = HttpEndpoint(
            settings.url, settings, guard, clock, {"authorization": f"GenieKey {key}"}
        )
        self.identity = endpoint.identity("opsgenie", key)
        self._priorities = PRIORITIES | settings.priorities
        self._responders = [_team(team) for team in settings.teams]
        super().__init__(settings, endpoint, link_base, clock)

    async def send(self, delivery: Delivery) -> Result:
        text, pending = self._text(delivery), delivery.pending
        alias = incident_key(pending.incident_id, ALIAS)
        if not text.is_open:
            return await self._about("close", alias, text.headline)
        if pending.acknowledged is not None:
            return await self._about("acknowledge", alias, _note(pending.acknowledged))
        alert = self._alert(text, pending) | {"alias": alias}
        result = await self._post(_json(alert), path="/v2/alerts")
        if pending.kind == "changed" and isinstance(result, Delivered):
            # The open alert keeps its priority when it is counted up.
            path = f"/v2/alerts/{quote(alias, safe='')}/priority?identifierType=alias"
            body = _json({"priority": alert["priority"]})
            changed = await self._post(body, path=path, method="PUT")
            if isinstance(changed, Refused) and changed.detail.startswith("HTTP 404"):
                return Delivered(f"{result.detail}; no change of priority there")
            return changed
        return result

    async def _about(self, action: str, alias: str, note: str) -> Result:
        """What is done to an alert that is there, or was."""
        path = f"/v2/alerts/{quote(alias, safe='')}/{action}?identifierType=alias"
        said = {"source": "Warren", "note": shortened(note, DESCRIPTION)}
        result = await self._post(_json(said), path=path)
        if isinstance(result, Refused) and result.detail.startswith("HTTP 404"):
            return Delivered("HTTP 404: there is no such alert any more")
        return result

    def _alert(self, text: IncidentText, pending: PendingDelivery) -> dict[str, Any]:
        change = text.change
        lines = [text.headline, *(f"{name}: {value}" for name, value in text.facts), text.link]
        details = {
            "cluster": change.cluster,
            "group": visible(change.group),
            "cause": change.cause.name if change.cause is not None else "",
            "owner": visible(text.owner),
        }
        return {
            "message": shortened(text.title, MESSAGE),
            "description": shortened("\n".join(filter(None, lines)), DESCRIPTION),
            "priority": self._priorities[change.status],
            "source": "Warren",
            "entity": shortened(visible(change.group), ENTITY),
            "tags": [shortened(tag, TAG) for tag in ("warren", change.cluster)],
            "details": {name: shortened(value, DETAIL) for name, value in details.items() if value},
            "responders": self._responders,
            "note": f"Route {pending.route}, channel {pending.channel}",
        }


def _note(acknowledged: Acknowledged) -> str:
    why = f": {visible(acknowledged.why)}" if acknowledged.why else ""
    return f"{visible(acknowledged.by)} looks after it{why}"


def _team(team: str) -> dict[str, str]:
    return {"type": "team", "id" if _UUID.fullmatch(team) else "name": team}


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()
