"""The token that is sent to the API. No error shows it."""

from __future__ import annotations

import os

from warren.errors import SettingsError

VARIABLE = "WARREN_TOKEN"


def sent_token() -> str:
    """$WARREN_TOKEN without the blanks and line ends around it, which files have; empty: none.

    Raises SettingsError for what no header can hold.
    """
    token = os.environ.get(VARIABLE, "").strip()
    if problem := unsendable(token):
        raise SettingsError(VARIABLE, f"{problem}: give the token alone")
    return token


def unsendable(token: str) -> str:
    """Why no header can hold it; empty where one can. Nothing of the token is in it."""
    if "\n" in token or "\r" in token:
        return "has more than one line (a line feed or carriage return in it)"
    if not token.isascii():
        return "has a character that is not ASCII"
    if not token.isprintable():
        return "has a control character in it"
    return ""
