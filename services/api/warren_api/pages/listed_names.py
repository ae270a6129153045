"""Expressions that match listed names and no other, and which names one lists. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence

import re2
from warren.words import grouped, visible

LONGEST = 1000  # characters of an expression
SHOWN = 3  # names of one
_BETWEEN = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_LISTED = re.compile(r"\^(?:\(\?:(?P<several>.+)\)|(?P<one>.+))\$")


def alternations(names: Collection[str] | Iterator[str]) -> list[str]:
    """As few expressions as may be, each short enough, that match one of the names whole."""
    found: list[str] = []
    part: list[str] = []
    for name in sorted(set(names)):
        escaped = re2.escape(name)
        if part and len("|".join([*part, escaped])) + len("^(?:)$") > LONGEST:
            found.append(_whole(part))
            part = []
        part.append(escaped)
    return [*found, _whole(part)] if part else found


def _whole(escaped: Sequence[str]) -> str:
    return f"^{escaped[0]}$" if len(escaped) == 1 else f"^(?:{'|'.join(escaped)})$"


def names_in(expression: str) -> list[str]:
    """That are listed; none where it is another expression."""
    found = _LISTED.fullmatch(expression)
    if found is None:
        return []
    parts = (
        _BETWEEN.sub("\\1\n", found["several"]).split("\n") if found["several"] else [found["one"]]
    )
    names = [re.sub(r"\\(.)", r"\1", part) for part in parts]
    return names if [re2.escape(name) for name in names] == parts else []


def in_words(expression: str) -> str:
    """The first names and how many more; another expression as it is."""
    names = names_in(expression)
    if not names:
        return visible(expression or "all")
    more = f" and {grouped(len(names) - SHOWN)} more" if len(names) > SHOWN else ""
    return f"{', '.join(map(visible, names[:SHOWN]))}{more}"
