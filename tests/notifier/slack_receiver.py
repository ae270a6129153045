"""Slack as its documentation describes it, as far as a message without parts for users goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from notifier.http_receiver import Answer, HttpReceiver, Request

# https://docs.slack.dev/reference/block-kit
MOST_BLOCKS = 50
PLAIN_TEXT = {"header": 150, "context": 3_000}
LONGEST = 3_000
TOGETHER = 13_000


def violations(message: dict[str, Any]) -> Iterator[str]:
    """What is wrong with `text` and `blocks`."""
    if re.search(r"<|>|&(?!(amp|lt|gt);)", message["text"]):
        yield "text is not escaped"
    if len(message["text"]) > 40_000:
        yield "text is too long"
    blocks = message["blocks"]
    if not 1 <= len(blocks) <= MOST_BLOCKS:
        yield "too many blocks"
    if len(json.dumps(blocks)) > TOGETHER:
        yield "msg_blocks_too_long"
    for block in blocks:
        match block["type"]:
            case "header":
                yield from _plain_text(block["text"], "header")
            case "context":
                if not 1 <= len(block["elements"]) <= 10:
                    yield "context elements"
                for element in block["elements"]:
                    yield from _plain_text(element, "context")
            case "rich_text":
                for section in block["elements"]:
                    yield from _rich_text(section)
            case other:
                yield f"block {other}"


def _plain_text(found: dict[str, Any], where: str) -> Iterator[str]:
    if found["type"] != "plain_text" or found["emoji"] is not False:
        yield f"{where} is parsed"
    if not 1 <= len(found["text"]) <= PLAIN_TEXT[where]:
        yield f"{where} is too long"


def _rich_text(section: dict[str, Any]) -> Iterator[str]:
    if section["type"] != "rich_text_section":
        yield f"rich text {section['type']}"
    for element in section["elements"]:
        if element["type"] not in ("text", "link") or not element["text"]:
            yield f"rich text {element}"
        if max(len(element["text"]), len(element.get("url", ""))) > LONGEST:
            yield "a text or a link is too long"
        if element["type"] == "link" and not element["url"].startswith(("http://", "https://")):
            yield f"link {element['url']}"


def shown(message: dict[str, Any]) -> str:
    """The text of all elements."""
    sections = [s for block in message["blocks"] for s in block.get("elements", [])]
    elements = [element for section in sections for element in section.get("elements", [])]
    return "".join(element["text"] for element in elements)


class SlackApi:
    """chat.postMessage and chat.update of one workspace whose bot is in one conversation."""

    def __init__(self, token: str = "xoxb-1", conversation: str = "C123") -> None:
        self.messages: dict[str, dict[str, Any]] = {}
        """By ts, as they are now."""
        self.refusals: list[str] = []
        """Errors to answer with, one each, before anything is taken again."""
        self._token = token
        self._conversation = conversation

    def receiver(self) -> HttpReceiver:
        return HttpReceiver(decide=self.decide)

    def threads(self) -> dict[str, list[dict[str, Any]]]:
        """Replies by the ts of the first message."""
        firsts = [ts for ts, message in self.messages.items() if "thread_ts" not in message]
        return {
            ts: [m for m in self.messages.values() if m.get("thread_ts") == ts] for ts in firsts
        }

    def decide(self, request: Request) -> Answer:
        if request.headers.get("content-type") != "application/json; charset=utf-8":
            return _answer(error="invalid_form_data")
        if request.headers.get("authorization") != f"Bearer {self._token}":
            return _answer(error="invalid_auth")
        if self.refusals:
            return _answer(error=self.refusals.pop(0))
        message = json.loads(request.body)
        if message["channel"] != self._conversation:
            return _answer(error="channel_not_found")
        if wrong := list(violations(message)):
            return _answer(error="; ".join(wrong))
        if "reply_broadcast" in message and "thread_ts" not in message:
            return _answer(error="invalid_arguments")
        match request.path:
            case "/hook/chat.postMessage":
                if "thread_ts" in message and message["thread_ts"] not in self.messages:
                    return _answer(error="thread_not_found")
                ts = f"1795244400.{len(self.messages):06}"
                self.messages[ts] = message
            case "/hook/chat.update":
                ts = message["ts"]
                if ts not in self.messages:
                    return _answer(error="message_not_found")
                self.messages[ts] = message
            case _:
                return _answer(error="unknown_method")
        return _answer(channel=self._conversation, ts=ts, message=message)


def _answer(**fields: Any) -> Answer:
    return Answer(200, body=json.dumps({"ok": "error" not in fields, **fields}).encode())
