"""What a search field says, term by term: words, `key:value`, quotes that keep blanks, `-` for not.

Upper and lower case are the same.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

_TERM = re.compile(r'(?P<no>-?)(?:(?P<key>[a-z]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>\S+))', re.I)


class Term(NamedTuple):
    """`key`: empty for words; `is_excluded`: what it finds is not wanted."""

    key: str
    value: str
    is_excluded: bool


def terms(text: str, keys: Container[str]) -> list[Term]:
    """A colon behind anything but one of `keys` belongs to the word: names may have colons, too."""
    return [_term(found, keys) for found in _TERM.finditer(text)]


def _term(found: re.Match[str], keys: Container[str]) -> Term:
    key = (found["key"] or "").lower()
    value: str = found["plain"] if found["quoted"] is None else found["quoted"]
    if key and key not in keys:
        key, value = "", f"{found['key']}:{value}"
    return Term(key, value.casefold(), bool(found["no"]))
