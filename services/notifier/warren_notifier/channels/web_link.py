"""Links that people can follow, in mails and messages. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

LONGEST_LINK = 2_000  # characters; browsers and services cut longer ones, and they lead nowhere


def is_web_link(text: str) -> bool:
    """Whether it is a URL of http or https, and not too long."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and _fit(text)


def _fit(link: str) -> bool:
    return link.isascii() and link.isprintable() and " " not in link and len(link) <= LONGEST_LINK
