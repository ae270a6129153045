"""Slack: an incoming webhook, or a bot that keeps one thread per incident.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: 200 and `ok`; errors are
HTTP statuses, 429 has `Retry-After`. https://docs.slack.dev/apis/web-api: methods answer 200 with
`{"ok": false, "error": …}` when they refuse.
"""

from __future__ import annotations

import json
from typing import Any

from warren.clock import Clock
from warren.settings.channels import SlackBotChannelSettings, SlackChannelSettings

from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_channel import JSON, HttpChannel, endpoint
from warren_notifier.channels.http_endpoint import Answered, HttpEndpoint
from warren_notifier.channels.slack_message import JsonObject, slack_message
from warren_notifier.state.delivery import Delivery

ANSWER_BYTES = 1 << 20  # an answer has the whole message in it
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
# The first message cannot be updated any more; the thread goes on without.
UNCHANGEABLE = {"cant_update_message", "edit_window_closed", "message_not_found"}
NO_THREAD = {"cannot_reply_to_message", "message_not_found", "thread_not_found"}


class SlackChannel(HttpChannel):
    """An incoming webhook: each delivery is a message of its own."""

    def __init__(
        self, settings: SlackChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, endpoint(settings, guard, clock), link_base, clock)
        self.identity = self._endpoint.identity("slack")

    async def send(self, delivery: Delivery) -> Result:
        message = slack_message(self._text(delivery), delivery.pending)
        return await self._post(json.dumps(message).encode())


class SlackBotChannel(HttpChannel):
    """A bot token and a conversation. The incident's first message says how it stands now, what
    happens since are replies to it.

    Which message is the first is the receipt: `<conversation>/<ts>`.
    """

    def __init__(
        self, settings: SlackBotChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        authorization = {"authorization": f"Bearer {settings.token.get_secret_value()}"}
        api = HttpEndpoint(settings.api, settings, guard, clock, authorization)
        super().__init__(settings, api, link_base, clock)
        self.identity = api.identity("slack-bot", settings.conversation)
        self._conversation = settings.conversation

    async def send(self, delivery: Delivery) -> Result:
        message = slack_message(self._text(delivery), delivery.pending)
        conversation, _, first = (delivery.receipt or "").partition("/")
        if not first:
            return await self._say({"channel": self._conversation, **message})
        # The update may be made twice without anybody seeing it; the reply not, so it comes last.
        changed = await self._call("chat.update", {"channel": conversation, "ts": first, **message})
        if isinstance(changed, Retry) or (
            isinstance(changed, Refused) and changed.detail not in UNCHANGEABLE
        ):
            return changed
        reply = {"channel": conversation, "thread_ts": first, **message}
        result = await self._say(reply, receipt=delivery.receipt)
        if isinstance(result, Refused) and result.detail in NO_THREAD:
            return await self._say({"channel": self._conversation, **message})
        return result

    async def _say(self, message: JsonObject, receipt: str | None = None) -> Result:
        answer = await self._call("chat.postMessage", message)
        if not isinstance(answer, dict):
            return answer
        posted = f"{answer.get('channel', '')}/{answer.get('ts', '')}"
        return Delivered(f"posted {posted}", receipt or posted)

    async def _call(self, method: str, message: JsonObject) -> dict[str, Any] | Retry | Refused:
        """What a method answers; where it refuses, the detail is Slack's word for it."""
        body = json.dumps(message).encode()
        answer = await self._endpoint.request(body, JSON, path=f"/{method}", read=ANSWER_BYTES)
        if not isinstance(answer, Answered):
            return answer
        try:
            said = json.loads(answer.body)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            return Retry(f"HTTP {answer.code}, but no JSON object", uncertain=True)
        if said.get("ok") is True:
            return said
        error = str(said.get("error", "no reason given"))
        return Retry(error) if error in PASSING else Refused(error)
