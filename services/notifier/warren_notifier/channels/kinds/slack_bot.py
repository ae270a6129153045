"""Slack: a bot that keeps one thread per incident or digest.

https://docs.slack.dev/apis/web-api: methods answer 200 with `{"ok": false, "error": …}` when they
refuse.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, SecretStr
from warren.clock import Clock
from warren.settings.channels import WebAddress

from warren_notifier.channels.channel import Delivered, Kind, Refused, Result, Retry
from warren_notifier.channels.digest import Digest
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http import JSON, Target, TargetSettings, printable
from warren_notifier.channels.http_endpoint import Answered
from warren_notifier.channels.kinds.slack import OF_MESSAGE, PASSING
from warren_notifier.channels.note import Note, NoteChannel
from warren_notifier.channels.slack_message import JsonObject, slack_message
from warren_notifier.state.delivery import Delivery

ANSWER_BYTES = 1 << 20  # an answer has the whole message in it
# The first message cannot be updated any more; the thread goes on without.
UNCHANGEABLE = {"cant_update_message", "edit_window_closed", "message_not_found"}
UPDATES = 10_000  # of messages that are remembered at most; one that is forgotten is made again
PLACE = re.compile(r"[A-Za-z0-9]{1,40}/[0-9]{1,20}\.[0-9]{1,20}")  # of a message
K = TypeVar("K")
V = TypeVar("V")
NO_THREAD = {"cannot_reply_to_message", "message_not_found", "thread_not_found"}


class SlackBotSettings(TargetSettings):
    """A Slack bot: one thread per incident, whose first message says how it stands."""

    type: Literal["slack-bot"] = Field(description="Kind of channel")
    token: Annotated[SecretStr, AfterValidator(printable)] = Field(
        min_length=1, description="Bot token (`xoxb-…`) with the scope chat:write"
    )
    conversation: str = Field(
        min_length=1, description="Id of the Slack channel, `C…`; the bot must be in it"
    )
    api: WebAddress = Field(default="https://slack.com/api", description="URL of Slack's Web API")

    @property
    def target(self) -> Target:
        authorization = {"authorization": f"Bearer {self.token.get_secret_value()}"}
        return Target(self.api, authorization, (self.conversation,))


@dataclass(frozen=True, slots=True)
class _First:
    """The first message of a thread. `of_many`: of a digest, not of one incident."""

    conversation: str
    ts: str
    of_many: bool

    @classmethod
    def of(cls, receipt: str | None) -> _First | None:
        conversation, _, rest = (receipt or "").partition("/")
        ts, _, kind = rest.partition("/")
        return cls(conversation, ts, kind == "digest") if ts else None


class SlackBotChannel(NoteChannel[SlackBotSettings]):
    """A bot token and a conversation. The first message of an incident, or of a digest, says how it
    stands now, what happens since are replies to it.

    Which message is the first is the receipt: `<conversation>/<ts>`, with `/digest` for a digest's.
    """

    edits = True

    def __init__(
        self, settings: SlackBotSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, link_base, guard, clock)
        self._updated: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Which message says what, by its `ts` and the delivery's id."""
        self._edited: OrderedDict[str, str] = OrderedDict()
        """What first messages were made to say is wrong since they told news, by their `ts`."""
        self._editing: dict[str, asyncio.Future[None]] = {}

    async def send(self, delivery: Delivery) -> Result:
        message = slack_message(self._note(delivery))
        return await self._tell(message, message, _First.of(delivery.receipt), of_many=False)

    async def send_many(self, digest: Digest) -> Result:
        news = slack_message(await self._news(digest))
        own = {
            first: d for d in digest.news if (first := _First.of(d.receipt)) and not first.of_many
        }
        if digest.alone is not None and own:
            return await self._tell(news, news, _First.of(digest.alone.receipt), of_many=False)
        for first, delivery in own.items():
            failed = await self._update_once(first, delivery)
            if failed is not None:
                return failed
        first = _newest([*(one.receipt for one in digest.news), *digest.receipts])
        if first is None and digest.alone is not None:
            return await self._tell(news, news, None, of_many=False)
        now = slack_message(await self._digest_note(digest))
        seen = any(one.pending.kind == "opened" for one in digest.news)  # in the conversation too
        return await self._tell(
            now, {**news, "reply_broadcast": True} if seen else news, first, of_many=True
        )

    async def edit(self, delivery: Delivery) -> Result | None:
        """Only where something else is wrong: figures alone do not change."""
        first = _First.of(delivery.receipt)
        if first is None or first.of_many:
            return None
        text = self._text(delivery)
        return await self._edit(first, f"{text.status} {text.what}", self._note(delivery))

    async def edit_many(self, digest: Digest) -> Result | None:
        first = _newest(digest.receipts)
        if first is None:
            return None
        note = await self._digest_note(digest)
        what = "|".join(f"{each.status} {each.name} {each.what}" for each in note.groups)
        return await self._edit(first, what, note)

    async def _edit(self, first: _First, what: str, note: Note) -> Result | None:
        if self._edited.get(first.ts) == what or first.ts in self._editing:
            return None
        self._editing[first.ts] = asyncio.get_running_loop().create_future()
        try:
            failed = await self._update(first, slack_message(note))
        finally:
            self._editing.pop(first.ts).set_result(None)
        if failed is None:
            _remember(self._edited, first.ts, what)
        return failed or Delivered("edited")

    async def _update_once(self, first: _First, delivery: Delivery) -> Retry | Refused | None:
        """As `_change`. Slack takes about one update a second: an attempt that it ends goes on
        where the one before has stopped.
        """
        said = first.ts, delivery.pending.delivery_id
        if said in self._updated:
            return None
        failed = await self._change(first, slack_message(self._note(delivery)))
        if failed is None:
            _remember(self._updated, said, None)
        return failed

    async def _tell(
        self, now: JsonObject, news: JsonObject, first: _First | None, *, of_many: bool
    ) -> Result:
        """`now`: how all that the thread is about stands."""
        if first is None:
            return await self._begin(now, of_many=of_many)
        # The update may be made twice without anybody seeing it; the reply not, so it comes last.
        changed = await self._change(first, now)
        if changed is not None:
            return changed
        reply = {"channel": first.conversation, "thread_ts": first.ts, **news}
        result = await self._say(reply, first, of_many=first.of_many)
        if isinstance(result, Refused) and result.detail in NO_THREAD:
            return await self._begin(now, of_many=of_many)
        return result

    async def _begin(self, message: JsonObject, *, of_many: bool) -> Result:
        return await self._say(
            {"channel": self._settings.conversation, **message}, None, of_many=of_many
        )

    async def _change(self, first: _First, message: JsonObject) -> Retry | Refused | None:
        """By news, which comes after an edit that is under way; as `_update`."""
        if first.ts in self._editing:
            await self._editing[first.ts]
        self._edited.pop(first.ts, None)
        return await self._update(first, message)

    async def _update(self, first: _First, message: JsonObject) -> Retry | Refused | None:
        """None where the thread can go on."""
        place = {"channel": first.conversation, "ts": first.ts}
        changed = await self._call("chat.update", {**place, **message})
        if isinstance(changed, dict):
            return None
        passed = isinstance(changed, Refused) and changed.detail in UNCHANGEABLE
        return None if passed else changed

    async def _say(self, message: JsonObject, first: _First | None, *, of_many: bool) -> Result:
        answer = await self._call("chat.postMessage", message)
        if not isinstance(answer, dict):
            return answer
        posted = f"{answer.get('channel', '')}/{answer.get('ts', '')}"
        if PLACE.fullmatch(posted) is None:
            return Delivered("posted, but the answer does not say where")
        began = f"{first.conversation}/{first.ts}" if first is not None else posted
        return Delivered(f"posted {posted}", f"{began}/digest" if of_many else began)

    async def _call(self, method: str, message: JsonObject) -> dict[str, Any] | Retry | Refused:
        """What a method answers; where it refuses, the detail is Slack's word for it."""
        body = json.dumps(message).encode()
        answer = await self._endpoint.request(body, JSON, path=f"/{method}", read=ANSWER_BYTES)
        if not isinstance(answer, Answered):
            return answer
        said = answer.json
        if not isinstance(said, dict):
            return Retry(f"HTTP {answer.code}, but no JSON object", uncertain=True)
        if said.get("ok") is True:
            return said
        error = str(said.get("error", "no reason given"))
        if error in PASSING:
            return Retry(error)
        return Refused(error, of_message=error in OF_MESSAGE)


def _remember(known: OrderedDict[K, V], key: K, value: V) -> None:
    known[key] = value
    while len(known) > UPDATES:
        known.popitem(last=False)


def _newest(receipts: Iterable[str | None]) -> _First | None:
    """Of the digests' first messages."""
    found = {first for text in receipts if (first := _First.of(text)) and first.of_many}
    return max(found, key=lambda first: first.ts, default=None)


KIND = Kind(SlackBotSettings, SlackBotChannel)
