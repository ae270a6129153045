"""A change, or many, as Slack shows them: Block Kit. Pure.

Names go into `plain_text` objects and elements of a `rich_text` block, which Slack does not parse:
no mention, link, emoji or markup can be made by naming a group. `text`, which notifications show,
is parsed; there `&`, `<` and `>` are escaped.

Limits (https://docs.slack.dev/reference/block-kit/blocks): a header has 150 characters, a context
element 2,000 here, a message 50 blocks. What all blocks may have together is not documented;
messages with about 13,000 characters are refused as `msg_blocks_too_long`.
"""

import json
from collections.abc import Iterator
from typing import Any

from warren.words import shortened

from warren_notifier.channels.note import Facts, Note, fitting

HEADER = 150  # characters
TEXT = 1_000  # characters; Slack takes 40,000, a telephone shows a line or two
BYTES = 12_000
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

JsonObject = dict[str, Any]


def slack_message(note: Note) -> JsonObject:
    """`text` and `blocks`."""

    def build(longest: int) -> bytes:
        elements = list(_elements(note, longest))
        section = {"type": "rich_text_section", "elements": elements}
        message = {
            # https://docs.slack.dev/messaging/formatting-message-text: three characters, no others.
            "text": shortened(note.title, TEXT).translate(_ESCAPED),
            "mrkdwn": False,
            "unfurl_links": False,
            "unfurl_media": False,
            "blocks": [
                {"type": "header", "text": _text_object(note.title, HEADER)},
                {"type": "rich_text", "elements": [section]},
                {"type": "context", "elements": [_text_object(note.origin, TEXT)]},
            ],
        }
        return json.dumps(message).encode()

    message: JsonObject = json.loads(fitting(build, BYTES))
    return message


def _elements(note: Note, longest: int) -> Iterator[JsonObject]:
    yield _plain(shortened(note.headline, longest) + "\n")
    for group in note.groups:
        yield _plain(f"\n{group.status} {shortened(group.name, longest)}", bold=True)
        lines = (f": {group.what}", group.figures, f"Do: {group.action}")
        yield _plain("".join(f"{shortened(line, longest)}\n" for line in lines))
        yield from _linked(group.links)
    for rest in ([note.more] if note.more else [], ["Over", *note.over] if note.over else []):
        if rest:
            yield _plain("\n" + "".join(f"{shortened(line, longest)}\n" for line in rest))
    if note.groups or note.over:
        yield _plain("\n")
    for name, value in note.facts:
        yield from (_plain(f"{name}: ", bold=True), _plain(shortened(value, longest) + "\n"))
    yield from _linked(note.links)


def _linked(links: Facts) -> Iterator[JsonObject]:
    """On one line."""
    for place, (words, url) in enumerate(links):
        if place:
            yield _plain(" · ")
        yield _link(words, url)
    if links:
        yield _plain("\n")


def _plain(text: str, *, bold: bool = False) -> JsonObject:
    element: JsonObject = {"type": "text", "text": text}
    return element | {"style": {"bold": True}} if bold else element


def _link(words: str, url: str) -> JsonObject:
    return {"type": "link", "url": url, "text": words}


def _text_object(text: str, limit: int) -> JsonObject:
    return {"type": "plain_text", "text": shortened(text, limit), "emoji": False}
