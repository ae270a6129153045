"""Links that people can follow, and ids by which people and receivers know an incident. Pure."""

import hashlib
from urllib.parse import urlsplit

from warren.path_segments import segment
from warren.words import shortened, visible

LONGEST_ID = 100  # characters; acknowledgements take no longer ones
LONGEST_LINK = 2_000  # characters; browsers and services cut longer ones, and they lead nowhere


def page_link(base: str, *path: str) -> str:
    """A page of Warren's; empty without a base, and where it would be too long to lead there."""
    link = "/".join([base.rstrip("/"), *map(segment, path)]) if base else ""
    return link if len(link) <= LONGEST_LINK else ""


def shown_id(incident_id: str) -> str:
    """As people are told it: whole wherever it can be acknowledged."""
    return visible(shortened(incident_id, LONGEST_ID))


def incident_key(incident_id: str, longest: int) -> str:
    """By which a receiver knows the incident again: its id, of a longer one than `longest` a
    digest.
    """
    if len(incident_id) <= longest:
        return incident_id
    return hashlib.sha256(incident_id.encode()).hexdigest()


def is_web_link(text: str) -> bool:
    """Whether it is a URL of http or https, and not too long."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    fit = text.isascii() and text.isprintable() and " " not in text and len(text) <= LONGEST_LINK
    return parts.scheme in ("http", "https") and bool(parts.hostname) and fit
