"""What Slack's documentation demands of a message without parts for users."""

import json
import re
from collections.abc import Iterator
from typing import Any

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
