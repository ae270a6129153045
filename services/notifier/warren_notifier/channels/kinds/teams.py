"""Microsoft Teams: a workflow that posts an adaptive card to a chat or channel.

https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using:
the workflow "when a Teams webhook request is received" takes a message whose attachment is the
card; a message has 28 KB at most, counted as UTF-16 where the request does not say UTF-8. What is
known as incoming webhook of an Office 365 connector is retired; of its limits it told in the text
of an answer of 200, "Microsoft Teams endpoint returned HTTP error 429".

https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run: Markdown is not supported in a
text run (it is in text blocks and facts), so all that has names in it are text runs.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field
from warren.words import shortened

from warren_notifier.channels.channel import (
    Answered,
    HttpChannelSettings,
    Kind,
    Result,
    Retry,
    judged,
)
from warren_notifier.channels.digest_text import GroupLine
from warren_notifier.channels.note import Note, NoteChannel, fitting

BYTES = 28_000
FAILED = "message delivery failed"
FAILED_CODE = re.compile(r"HTTP error ([45][0-9]{2})\b")
VERSION = "1.4"  # of adaptive cards, which all of Teams' clients show
STYLES = {"ERR": "attention", "WARN": "warning", "OK": "good"}

JsonObject = dict[str, Any]


class TeamsSettings(HttpChannelSettings):
    """Microsoft Teams: a workflow that posts a card for each change."""

    type: Literal["teams"] = Field(description="Kind of channel")


class TeamsChannel(NoteChannel[TeamsSettings]):
    """One workflow. Its answer, 202, says that it was started, not that the card was posted."""

    def _written(self, note: Note) -> bytes:
        def body(longest: int) -> bytes:
            return json.dumps(_message(note, longest), ensure_ascii=False).encode()

        return fitting(body, BYTES)

    def _judged(self, answer: Answered) -> Result:
        """The connector of before, and what is made like it, answers 200 also when Teams has not
        taken the message.
        """
        if FAILED not in answer.text:
            return super()._judged(answer)
        detail = f"HTTP {answer.code}: {answer.text}"
        code = FAILED_CODE.search(answer.text)
        return judged(int(code[1]), detail) if code else Retry(detail)


def _message(note: Note, longest: int) -> JsonObject:
    title = _run(shortened(note.title, longest), weight="Bolder", size="Medium")
    facts = [
        _block(_run(f"{name}: ", weight="Bolder"), _run(shortened(value, longest)))
        for name, value in note.facts
    ]
    groups = [block for group in note.groups for block in _group(group, longest)]
    rest = [_block(_run(shortened(line, longest))) for line in [note.more] if line]
    if note.over:
        rest.append(_block(_run("Over", weight="Bolder")))
    rest += [_block(_run(shortened(line, longest))) for line in note.over]
    small = _run(shortened(note.origin, longest), isSubtle=True, size="Small")
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": VERSION,
        "fallbackText": shortened(note.title, longest),
        "msteams": {"width": "Full"},
        "body": [
            {
                "type": "Container",
                "style": STYLES.get(note.status, "default"),
                "bleed": True,
                "items": [_block(title)],
            },
            _block(_run(shortened(note.headline, longest))),
            *groups,
            *rest,
            *facts,
            _block(small),
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": title, "url": url} for title, url in note.links
        ],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _group(group: GroupLine, longest: int) -> Iterator[JsonObject]:
    """Short lines: a telephone shows about 45 characters of one."""
    name = _run(f"{group.status} {shortened(group.name, longest)}", weight="Bolder")
    yield _block(name, _run(f": {shortened(group.what, longest)}")) | {"spacing": "Medium"}
    yield _block(_run(shortened(group.figures, longest), isSubtle=True))
    if group.action:
        yield _block(_run(shortened(group.action, longest)))
    for words, url in group.links:
        yield _block(_run(words, selectAction={"type": "Action.OpenUrl", "url": url}))


def _block(*runs: JsonObject) -> JsonObject:
    return {"type": "RichTextBlock", "spacing": "Small", "inlines": list(runs)}


def _run(text: str, **looks: object) -> JsonObject:
    return {"type": "TextRun", "text": text, **looks}


KIND = Kind(TeamsSettings, TeamsChannel)
