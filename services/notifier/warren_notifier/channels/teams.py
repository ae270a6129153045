"""Microsoft Teams: a workflow that posts an adaptive card to a chat or channel.

https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using:
the workflow "when a Teams webhook request is received" takes a message whose attachment is the
card; a message has 28 KB at most, counted as UTF-16 where the request does not say UTF-8. What is
known as incoming webhook of an Office 365 connector is retired; of its limits it told in the text
of an answer of 200, "Microsoft Teams endpoint returned HTTP error 429".

https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run: Markdown is not supported in a
text run (it is in text blocks and facts), so all that has names in it are text runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warren.clock import Clock
from warren.settings.channels import TeamsChannelSettings
from warren.words import shortened

from warren_notifier.channels.channel import Result, Retry
from warren_notifier.channels.digest import Digest
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.email_digest import DigestText
from warren_notifier.channels.http_channel import HttpChannel, endpoint
from warren_notifier.channels.http_endpoint import Answered, judged
from warren_notifier.channels.incident_text import IncidentText, fitting, origin
from warren_notifier.state.delivery import Delivery

BYTES = 28_000
FAILED = "message delivery failed"
FAILED_CODE = re.compile(r"HTTP error ([45][0-9]{2})\b")
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
        return await self._show(_incident(self._text(delivery), delivery))

    async def send_many(self, digest: Digest) -> Result:
        """An incident that is alone is told as it would be without a digest."""
        if digest.alone is not None:
            text = self._text(digest.alone, await self._besides(digest))
            return await self._show(_incident(text, digest.alone))
        return await self._show(_many(await self._digest_text(digest), digest))

    async def _show(self, shown: _Shown) -> Result:
        def body(longest: int) -> bytes:
            return json.dumps(_message(_card(shown, longest)), ensure_ascii=False).encode()

        return await self._post(fitting(body, BYTES))

    def _judged(self, answer: Answered) -> Result:
        """The connector of before, and what is made like it, answers 200 also when Teams has not
        taken the message.
        """
        if FAILED not in answer.text:
            return super()._judged(answer)
        detail = f"HTTP {answer.code}: {answer.text}"
        code = FAILED_CODE.search(answer.text)
        return judged(int(code[1]), detail) if code else Retry(detail)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a card has: `facts` and `links` are (name, value) pairs, `lists` have headings."""

    status: str
    title: str
    headline: str
    facts: Sequence[tuple[str, str]]
    lists: Sequence[tuple[str, list[str]]]
    links: Sequence[tuple[str, str]]
    origin: str


def _incident(text: IncidentText, delivery: Delivery) -> _Shown:
    return _Shown(
        status=text.change.status,
        title=text.title,
        headline=text.headline,
        facts=text.facts,
        lists=[],
        links=[("Look at it in Warren", text.link), ("Runbook", text.runbook_link)],
        origin=origin(delivery.pending),
    )


def _many(text: DigestText, digest: Digest) -> _Shown:
    return _Shown(
        status=text.status,
        title=text.subject,
        headline=text.headline,
        facts=text.facts,
        lists=list(text.lists),
        links=[("Look at them in Warren", text.link)],
        origin=f"Warren. Route {digest.key.route}, message {digest.digest_id}",
    )


def _message(card: JsonObject) -> JsonObject:
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _card(shown: _Shown, longest: int) -> JsonObject:
    title = _run(shortened(shown.title, longest), weight="Bolder", size="Medium")
    facts = [
        _block(_run(f"{name}: ", weight="Bolder"), _run(shortened(value, longest)))
        for name, value in shown.facts
    ]
    lists = [
        block
        for heading, lines in shown.lists
        for block in (
            _block(_run(heading, weight="Bolder")),
            *(_block(_run(shortened(line, longest))) for line in lines),
        )
    ]
    small = _run(shortened(shown.origin, longest), isSubtle=True, size="Small")
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": VERSION,
        "fallbackText": shortened(shown.title, longest),
        "msteams": {"width": "Full"},
        "body": [
            {
                "type": "Container",
                "style": STYLES.get(shown.status, "default"),
                "bleed": True,
                "items": [_block(title)],
            },
            _block(_run(shortened(shown.headline, longest))),
            *facts,
            *lists,
            _block(small),
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": title, "url": url}
            for title, url in shown.links
            if url
        ],
    }


def _block(*runs: JsonObject) -> JsonObject:
    return {"type": "RichTextBlock", "spacing": "Small", "inlines": list(runs)}


def _run(text: str, **looks: object) -> JsonObject:
    return {"type": "TextRun", "text": text, **looks}
