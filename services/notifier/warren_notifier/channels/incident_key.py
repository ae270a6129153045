"""What stands for an incident where there is little room: receivers know it again by that."""

from __future__ import annotations

import hashlib


def incident_key(incident_id: str, longest: int) -> str:
    """The incident's id, or where it has more than `longest` characters a digest of it."""
    if len(incident_id) <= longest:
        return incident_id
    return hashlib.sha256(incident_id.encode()).hexdigest()
