"""Slack: an incoming webhook; what happens to an incident or digest later is another message.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: 200 and `ok`, and a word
where something is wrong, which older webhooks say with 200 as well. Mattermost and Rocket.Chat,
which take the same messages, answer `ok` or a JSON object.
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
    Refused,
    Result,
    Retry,
)
from warren_notifier.channels.note import Facts, Note, NoteChannel, fitting

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
        lines = filter(None, (f": {group.what}", group.figures, group.action))
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
        yield {"type": "link", "url": url, "text": words}
    if links:
        yield _plain("\n")


def _plain(text: str, *, bold: bool = False) -> JsonObject:
    element: JsonObject = {"type": "text", "text": text}
    return element | {"style": {"bold": True}} if bold else element


def _text_object(text: str, limit: int) -> JsonObject:
    return {"type": "plain_text", "text": shortened(text, limit), "emoji": False}


# https://docs.slack.dev/reference/methods/chat.postMessage: what may go better later.
PASSING = {
    "fatal_error",
    "internal_error",
    "rate_limited",
    "ratelimited",
    "request_timeout",
    "service_unavailable",
    "team_added_to_org",
}
# Of incoming webhooks: what does not become right by being sent again.
PERMANENT = {
    "action_prohibited",
    "channel_is_archived",
    "channel_not_found",
    "invalid_attachments",
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_payload",
    "invalid_token",
    "missing_text_or_fallback_or_attachments",
    "msg_blocks_too_long",
    "msg_too_long",
    "no_active_hooks",
    "no_service",
    "no_service_id",
    "no_team",
    "no_text",
    "posting_to_general_channel_denied",
    "team_disabled",
    "team_not_found",
    "too_many_attachments",
    "user_not_found",
}
# Likewise: what another message may not be.
OF_MESSAGE = {
    "invalid_attachments",
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_payload",
    "msg_blocks_too_long",
    "msg_too_long",
    "no_text",
    "too_many_attachments",
}
_WORD = re.compile(r"[a-z]+(_[a-z]+)+")


class SlackSettings(HttpChannelSettings):
    """A Slack incoming webhook: a message for each change."""

    type: Literal["slack"] = Field(description="Kind of channel")


class SlackChannel(NoteChannel[SlackSettings]):
    """One incoming webhook."""

    def _written(self, note: Note) -> bytes:
        return json.dumps(slack_message(note)).encode()

    def _judged(self, answer: Answered) -> Result:
        return _not_taken(answer) or super()._judged(answer)


def _not_taken(answer: Answered) -> Retry | Refused | None:
    """What an incoming webhook says with a good answer; None where that is no error."""
    said = answer.json
    if isinstance(said, dict):
        if said.get("ok") is not False and said.get("success") is not False:
            return None
        error = str(said.get("error", ""))
    else:
        error = answer.text.split(" ")[0].rstrip(":")
        if error not in PASSING and _WORD.fullmatch(error) is None:
            return None
    detail = f"HTTP {answer.code}: {answer.text}"
    of_message = error in OF_MESSAGE
    return Refused(detail, of_message=of_message) if error in PERMANENT else Retry(detail)


KIND = Kind(SlackSettings, SlackChannel)
