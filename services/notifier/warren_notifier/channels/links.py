"""Links that people can follow, and ids by which people and receivers know an incident. Pure."""

import hashlib

from warren.path_segments import segment
from warren.words import LONGEST_LINK, shortened, visible

LONGEST_ID = 100  # characters; acknowledgements take no longer ones


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
