"""What a search field says, term by term: words, `key:value`, `key:=value` for all of a name, a
comma for either, quotes that keep blanks and commas, `-` for not.

Upper and lower case are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from typing import NamedTuple

_TERM = re.compile(
    r"(?P<no>-?)(?:(?P<key>[a-z][a-z_-]*):(?P<exact>=?))?"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<plain>\S+))',
    re.I,
)


class Term(NamedTuple):
    """`key`: empty for words; `is_excluded`: what it finds is not wanted; `is_exact`: all of a name
    is meant, not a part of it; `no_key`: what a word begins with as if it were a key.
    """

    key: str
    value: str
    is_excluded: bool
    is_exact: bool = False
    is_quoted: bool = False
    no_key: str = ""

    @property
    def alternatives(self) -> list[str]:
        return [self.value] if self.is_quoted or not self.key else self.value.split(",")

    def fits(self, *texts: str) -> bool:
        """Whether one of them is, or has in it, one of the alternatives."""
        folded = [text.casefold() for text in texts]
        if self.is_exact:
            return any(wanted in folded for wanted in self.alternatives)
        return any(wanted in text for wanted in self.alternatives for text in folded)


def terms(text: str, keys: Collection[str]) -> list[Term]:
    """A colon behind anything but one of `keys` belongs to the word: names may have colons, too."""
    return [_term(found, keys) for found in _TERM.finditer(text)]


def hints(asked: Iterable[Term], keys: Collection[str], finds: Callable[[Term], bool]) -> list[str]:
    """About words that begin as if with a key and that nothing has: then they were hardly meant as
    names. `finds`: whether anything has the word.
    """
    suspects = (term._replace(is_excluded=False) for term in asked if term.no_key)
    return [_no_key(term.no_key, keys) for term in suspects if not finds(term)]


def _no_key(written: str, keys: Collection[str]) -> str:
    near = get_close_matches(written, keys, n=1)
    meant = f" Did you mean {near[0]}:?" if near else ""
    return f"{written}: is no key, these are: {', '.join(keys)}.{meant}"


def _term(found: re.Match[str], keys: Collection[str]) -> Term:
    key = (found["key"] or "").lower()
    value: str = found["plain"] if found["quoted"] is None else found["quoted"]
    is_exact, is_quoted = bool(found["exact"]), found["quoted"] is not None
    no_key = ""
    if key and key not in keys:
        no_key, key = key, ""
        value, is_exact = f"{found['key']}:{found['exact']}{value}", False
    return Term(key, value.casefold(), bool(found["no"]), is_exact, is_quoted, no_key)
