"""Sentences that the services have made, as a page shows them: times in them are in the zone of the
page, and what was said before keeps its time instead of ages that were true then. And expressions
that match listed names and no other, and which names one lists. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

import re2
from markupsafe import Markup, escape
from warren.bootstrap import COMMAND
from warren.words import clock, grouped, moment, seconds_of, visible

_SPAN = r"(?:<1s|\d+[smhd](?: \d+[smh])?)"
_TIME = re.compile(
    rf"(?:(?P<day>\d{{4}}-\d\d-\d\d) )?(?P<hour>\d\d):(?P<minute>\d\d) UTC"
    rf"(?P<left> \(in {_SPAN}(?P<more>; )?)?"
    rf"|(?P<iso>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
    rf"|(?P<age>{_SPAN}) ago"
)


def said(sentence: str, at: int) -> Markup:
    """As it is now; `at`: when it was said (Unix milliseconds)."""
    return Markup("").join(_parts(visible(sentence), at, is_past=False))


def said_then(sentence: str, at: int) -> Markup:
    """As it was then: `12s ago` becomes the time that it was, `(in 29s; …)` is left out."""
    return Markup("").join(_parts(visible(sentence), at, is_past=True))


def clock_of(at: int, now: int | None = None) -> Markup:
    """A time; where there is a script it is put into the zone of the page. Without `now` it keeps
    its day.
    """
    utc = _iso(at)
    words = f"{utc[:10]} {utc[11:16]} UTC" if now is None else clock(at, now)
    dated = " dated" if now is None else ""
    html = '<time class="clock{0}" datetime="{1}" title="{1}">{2}</time>'
    return Markup(html).format(dated, utc, words)


def _parts(text: str, at: int, *, is_past: bool) -> Iterator[Markup]:
    end = 0
    for found in _TIME.finditer(text):
        if found["age"] and not is_past:
            continue
        named = None if found["age"] else _named(found, at)
        if not found["age"] and named is None:
            continue
        yield escape(text[end : found.start()])
        end = found.end()
        if named is None:
            age = 0 if found["age"] == "<1s" else seconds_of(found["age"].replace(" ", "")) or 0
            yield Markup("at ") + clock_of(at - age * 1000, at)
            continue
        yield clock_of(named, at)
        left = found["left"] or ""
        if is_past and left:
            left = " (" if found["more"] else ""
            end += not found["more"] and text[end : end + 1] == ")"
        yield escape(left)
    yield escape(text[end:])


def _named(found: re.Match[str], at: int) -> int | None:
    """Without a day it is that of `at`; None where it is no time."""
    if found["iso"]:
        return _unix(found["iso"])
    day = found["day"] or _iso(at)[:10]
    return _unix(f"{day}T{found['hour']}:{found['minute']}:00Z")


def _unix(iso: str) -> int | None:
    """In milliseconds."""
    try:
        return round(datetime.fromisoformat(iso).timestamp() * 1000)
    except ValueError:
        return None


def _iso(at: int) -> str:
    return moment(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_SAID = re.compile(rf":?\s*{COMMAND.pattern}")


def without_commands(action: str) -> str:
    """What to do, where the command stands beside it."""
    return _SAID.sub("", action).strip()


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
