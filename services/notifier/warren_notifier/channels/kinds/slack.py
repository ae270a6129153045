"""Slack: an incoming webhook; what happens to an incident or digest later is another message.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: 200 and `ok`, and a word
where something is wrong, which older webhooks say with 200 as well. Mattermost and Rocket.Chat,
which take the same messages, answer `ok` or a JSON object.
"""

import json
import re
from typing import Literal

from pydantic import Field

from warren_notifier.channels.channel import Kind, Refused, Result, Retry
from warren_notifier.channels.http import HttpChannelSettings
from warren_notifier.channels.http_endpoint import Answered
from warren_notifier.channels.note import Note, NoteChannel
from warren_notifier.channels.slack_message import slack_message

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
