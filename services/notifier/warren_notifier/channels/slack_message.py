"""A change as Slack shows it: Block Kit. Pure.

Names go into `plain_text` objects and elements of a `rich_text` block, which Slack does not parse:
no mention, link, emoji or markup can be made by naming a group. `text`, which notifications show,
is parsed; there `&`, `<` and `>` are escaped.

Limits (https://docs.slack.dev/reference/block-kit/blocks): a header has 150 characters, a context
element 2,000 here, a message 50 blocks. What all blocks may have together is not documented;
messages with about 13,000 characters are refused as `msg_blocks_too_long`.
"""

from __future__ import annotations

import json
from typing import Any

from warren.contracts import PendingDelivery
from warren.words import shortened

from warren_notifier.channels.incident_text import IncidentText, fitting

HEADER = 150  # characters
TEXT = 1_000  # characters; Slack takes 40,000, a telephone shows a line or two
BYTES = 12_000
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

JsonObject = dict[str, Any]


def slack_message(text: IncidentText, pending: PendingDelivery) -> JsonObject:
    """`text` and `blocks` of a message."""
    body = fitting(lambda longest: json.dumps(_message(text, pending, longest)).encode(), BYTES)
    message: JsonObject = json.loads(body)
    return message


def escaped(text: str) -> str:
    """https://docs.slack.dev/messaging/formatting-message-text: these three, and no others."""
    return text.translate(_ESCAPED)


def _message(text: IncidentText, pending: PendingDelivery, longest: int) -> JsonObject:
    origin = f"Warren. Route {pending.route}, channel {pending.channel}, {pending.incident_id}"
    lines: list[JsonObject] = [_plain(shortened(text.headline, longest) + "\n")]
    for name, value in text.facts:
        lines += [_plain(f"{name}: ", bold=True), _plain(shortened(value, longest) + "\n")]
    if text.runbook_link:
        lines += [_link(text.runbook_link, "Runbook"), _plain("\n")]
    if text.link:
        lines.append(_link(text.link, "Look at it in Warren"))
    return {
        "text": escaped(shortened(text.title, TEXT)),
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [
            {"type": "header", "text": _text_object(text.title, HEADER)},
            {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": lines}]},
            {"type": "context", "elements": [_text_object(origin, TEXT)]},
        ],
    }


def _plain(text: str, *, bold: bool = False) -> JsonObject:
    element: JsonObject = {"type": "text", "text": text}
    return element | {"style": {"bold": True}} if bold else element


def _link(url: str, text: str) -> JsonObject:
    return {"type": "link", "url": url, "text": text}


def _text_object(text: str, limit: int) -> JsonObject:
    return {"type": "plain_text", "text": shortened(text, limit), "emoji": False}
