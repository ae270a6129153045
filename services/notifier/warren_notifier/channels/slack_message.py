"""A change, or many, as Slack shows them: Block Kit. Pure.

Names go into `plain_text` objects and elements of a `rich_text` block, which Slack does not parse:
no mention, link, emoji or markup can be made by naming a group. `text`, which notifications show,
is parsed; there `&`, `<` and `>` are escaped.

Limits (https://docs.slack.dev/reference/block-kit/blocks): a header has 150 characters, a context
element 2,000 here, a message 50 blocks. What all blocks may have together is not documented;
messages with about 13,000 characters are refused as `msg_blocks_too_long`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

from warren.contracts import PendingDelivery
from warren.words import shortened

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.email_digest import WORST, DigestText
from warren_notifier.channels.incident_text import IncidentText, fitting, origin

HEADER = 150  # characters
TEXT = 1_000  # characters; Slack takes 40,000, a telephone shows a line or two
BYTES = 12_000
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

JsonObject = dict[str, Any]


def slack_message(text: IncidentText, pending: PendingDelivery) -> JsonObject:
    """`text` and `blocks` of a message about one incident."""

    def build(longest: int) -> bytes:
        return _message(text.title, list(_incident(text, longest)), origin(pending))

    return _fitting(build)


def slack_digest(text: DigestText, digest: Digest) -> JsonObject:
    """Likewise about many."""
    sender = f"Warren. Route {digest.key.route}, message {digest.digest_id}"

    def build(longest: int) -> bytes:
        return _message(text.subject, list(_many(text, longest)), sender)

    return _fitting(build)


def _fitting(build: Callable[[int], bytes]) -> JsonObject:
    message: JsonObject = json.loads(fitting(build, BYTES))
    return message


def escaped(text: str) -> str:
    """https://docs.slack.dev/messaging/formatting-message-text: these three, and no others."""
    return text.translate(_ESCAPED)


def _incident(text: IncidentText, longest: int) -> Iterator[JsonObject]:
    yield _plain(shortened(text.headline, longest) + "\n")
    yield from _facts(text.facts, longest)
    if text.runbook_link:
        yield from (_link(text.runbook_link, "Runbook"), _plain("\n"))
    if text.link:
        yield _link(text.link, "Look at it in Warren")


def _many(text: DigestText, longest: int) -> Iterator[JsonObject]:
    yield _plain(shortened(text.headline, longest) + "\n")
    yield from _facts(text.facts, longest)
    for heading, lines in text.lists:
        yield _plain(f"\n{heading}\n", bold=True)
        links = text.links if heading == WORST else []
        for line, link in zip_longest(lines, links, fillvalue=""):
            yield _plain(shortened(line, longest))
            if link:
                yield from (_plain(" "), _link(link, "Acknowledge"))
            yield _plain("\n")
    if text.link:
        yield _link(text.link, "Look at them in Warren")


def _facts(facts: list[tuple[str, str]], longest: int) -> Iterator[JsonObject]:
    for name, value in facts:
        yield from (_plain(f"{name}: ", bold=True), _plain(shortened(value, longest) + "\n"))


def _message(title: str, lines: list[JsonObject], sender: str) -> bytes:
    message = {
        "text": escaped(shortened(title, TEXT)),
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [
            {"type": "header", "text": _text_object(title, HEADER)},
            {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": lines}]},
            {"type": "context", "elements": [_text_object(sender, TEXT)]},
        ],
    }
    return json.dumps(message).encode()


def _plain(text: str, *, bold: bool = False) -> JsonObject:
    element: JsonObject = {"type": "text", "text": text}
    return element | {"style": {"bold": True}} if bold else element


def _link(url: str, text: str) -> JsonObject:
    return {"type": "link", "url": url, "text": text}


def _text_object(text: str, limit: int) -> JsonObject:
    return {"type": "plain_text", "text": shortened(text, limit), "emoji": False}
