"""Microsoft Teams: a workflow that posts an adaptive card to a chat or channel.

https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using:
the workflow "when a Teams webhook request is received" takes a message whose attachment is the
card; a message has 28 KB at most, counted as UTF-16 where the request does not say UTF-8. What is
known as incoming webhook of an Office 365 connector is retired.

https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run: Markdown is not supported in a
text run (it is in text blocks and facts), so all that has names in it are text runs.
"""

from __future__ import annotations

import json
from typing import Any

from warren.clock import Clock
from warren.contracts import PendingDelivery
from warren.settings.channels import TeamsChannelSettings
from warren.words import shortened

from warren_notifier.channels.channel import Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_channel import HttpChannel, endpoint
from warren_notifier.channels.incident_text import IncidentText, fitting
from warren_notifier.state.delivery import Delivery

BYTES = 28_000
VERSION = "1.4"  # of adaptive cards, which all of Teams' clients show
STYLES = {"ERR": "attention", "WARN": "warning", "OK": "good"}

JsonObject = dict[str, Any]


class TeamsChannel(HttpChannel):
    """One workflow. Its answer, 202, says that it was started, not that the card was posted."""

    def __init__(
        self, settings: TeamsChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, endpoint(settings, guard, clock), link_base, clock)
        self.identity = self._endpoint.identity("teams")

    async def send(self, delivery: Delivery) -> Result:
        text = self._text(delivery)

        def body(longest: int) -> bytes:
            card = _card(text, delivery.pending, longest)
            return json.dumps(_message(card), ensure_ascii=False).encode()

        return await self._post(fitting(body, BYTES))


def _message(card: JsonObject) -> JsonObject:
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _card(text: IncidentText, pending: PendingDelivery, longest: int) -> JsonObject:
    title = _run(shortened(text.title, longest), weight="Bolder", size="Medium")
    facts = [
        _block(_run(f"{name}: ", weight="Bolder"), _run(shortened(value, longest)))
        for name, value in text.facts
    ]
    origin = f"Warren. Route {pending.route}, channel {pending.channel}, {pending.incident_id}"
    small = _run(shortened(origin, longest), isSubtle=True, size="Small")
    links = [("Look at it in Warren", text.link), ("Runbook", text.runbook_link)]
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": VERSION,
        "fallbackText": shortened(text.title, longest),
        "msteams": {"width": "Full"},
        "body": [
            {
                "type": "Container",
                "style": STYLES.get(text.change.status, "default"),
                "bleed": True,
                "items": [_block(title)],
            },
            _block(_run(shortened(text.headline, longest))),
            *facts,
            _block(small),
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": title, "url": url} for title, url in links if url
        ],
    }


def _block(*runs: JsonObject) -> JsonObject:
    return {"type": "RichTextBlock", "spacing": "Small", "inlines": list(runs)}


def _run(text: str, **looks: object) -> JsonObject:
    return {"type": "TextRun", "text": text, **looks}
