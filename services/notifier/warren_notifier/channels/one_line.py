"""Foreign text on one line."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Without line breaks and control characters: group names may hold any."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
