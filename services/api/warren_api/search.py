"""What is written into a search field, and which rows it finds.

Term by term: words, `key:value`, `key:=value` for all of a name, a comma for either, quotes that
keep blanks and commas, `-` for not: `billing status:err,warn late:>10m -is:silenced`. Words are
looked for in a group's cluster and name, topics, clients and hosts; `key:>value` asks for more.
Upper and lower case are the same. Of groups without a verdict names, members, owner and silence are
known: what asks for anything else does not find them.
"""

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

from warren.contracts import Cause

from warren_api.group_row import GroupRow, UnjudgedRow
from warren_api.model.verdict import Kind

_TERM = re.compile(
    r"(?P<no>-?)(?:(?P<key>[a-z][a-z_-]*)(?P<sign>[:=])(?P<exact>=?))?"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<plain>\S+))',
    re.I,
)


class Term(NamedTuple):
    """`key`: empty for words; `is_excluded`: what it finds is not wanted; `is_exact`: all of a name
    is meant, not a part of it; `no_key`: what a word begins with as if it were a key, and its sign.
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


MOST_COMPARED = 800_000
"""Names times the square of what was written: 2,000 of 20 characters take 60 ms (measured)."""


def near_names(name: str, known: Collection[str], n: int = 3) -> list[str]:
    """What somebody may have meant; nothing where there are too many."""
    return [] if len(known) * len(name) ** 2 > MOST_COMPARED else get_close_matches(name, known, n)


NAMES = "cluster", "group", "topic", "owner"
"""Keys of what is there, whether it is well or not."""


def _no_key(written: str, keys: Collection[str]) -> str:
    near = near_names(written[:-1], keys, 1)
    meant = f"did you mean {near[0]}:?" if near else f"there are: {', '.join(keys)}."
    return f"Unknown filter “{written}” — {meant}"


def _term(found: re.Match[str], keys: Collection[str]) -> Term:
    """A colon behind anything but one of `keys` belongs to the word: names may have colons, too."""
    key = (found["key"] or "").lower()
    value: str = found["plain"] if found["quoted"] is None else found["quoted"]
    is_exact, is_quoted = bool(found["exact"]), found["quoted"] is not None
    no_key = ""
    if not key and not is_quoted and value.endswith(":") and value[:-1].lower() in keys:
        key, value = value[:-1].lower(), ""
    elif key and not is_quoted and value == "=":
        value = ""
    if key and (key not in keys or found["sign"] == "="):
        no_key, key = f"{key}{found['sign']}", ""
        value, is_exact = f"{found['key']}{found['sign']}{found['exact']}{value}", False
    return Term(key, value.casefold(), bool(found["no"]), is_exact, is_quoted, no_key)


T = TypeVar("T")
Matches = Callable[[T], bool]
Key = Callable[[Term], Matches[T]]
"""What a key asks for. Raises ValueError that says what would be understood."""


class Search(ABC, Generic[T]):
    """Rows of one kind that a text finds. `problems`: sentences about what was not understood;
    nothing is found then. Subclasses have the `keys` and the `words` of a row.
    """

    keys: ClassVar[Mapping[str, Key[Any]]]

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.problems: list[str] = []
        self._matches: list[Matches[T]] = []
        self._terms = [_term(found, self.keys) for found in _TERM.finditer(text)]
        for term in self._terms:
            try:
                self._matches.append(self._matching(term))
            except ValueError as error:
                self.problems.append(str(error))

    @abstractmethod
    def words(self, row: T) -> str:
        """What a word without a key is looked for in."""

    def finds(self, row: T) -> bool:
        return not self.problems and all(matches(row) for matches in self._matches)

    def hints(self, rows: Callable[[], Iterable[T]]) -> list[str]:
        """About words that begin as if with a key and that no row has: then they were hardly meant
        as names; and about names that nothing has. `rows`: all; asked for only where needed.
        """
        found = []
        for term in [] if self.problems else self._terms:
            if term.no_key and not any(term.fits(self.words(row)) for row in rows()):
                found.append(_no_key(term.no_key, self.keys))
            known = list(rows()) if term.key in NAMES and not term.is_excluded else []
            if known and not any(map(self.keys[term.key](term), known)):
                found.append(f"Nothing here has {term.key}:{term.value}")
        return found

    @property
    def corrected(self) -> str:
        """The text with the filters that were hardly meant otherwise; the same where none is."""
        text = self.text
        for written in filter(None, (term.no_key for term in self._terms)):
            for near in near_names(written[:-1], self.keys, 1):
                text = re.sub(re.escape(written), f"{near}:", text, flags=re.I)
        return text

    def _matching(self, term: Term) -> Matches[T]:
        """Raises ValueError that says what would be understood."""
        found = self.keys[term.key](term) if term.key else lambda row: term.fits(self.words(row))
        return (lambda row: not found(row)) if term.is_excluded else found


def text_of(of: Callable[[T], Iterable[str]], such: str = "a name, or a part of one") -> Key[T]:
    def matches(term: Term) -> Matches[T]:
        if not term.value and not term.is_exact:
            raise ValueError(f"{term.key}: needs {such}.")
        return lambda row: term.fits(*of(row))

    return matches


def choice_of(choices: Mapping[str, Matches[T]]) -> Key[T]:
    def matches(term: Term) -> Matches[T]:
        parts = term.alternatives
        if not all(part in choices for part in parts):
            raise ValueError(f"{term.key}: needs one of {', '.join(choices)}.")
        return lambda row: any(choices[part](row) for part in parts)

    return matches


Row = GroupRow | UnjudgedRow
_COMPARED = re.compile(r"(?P<how>>=|<=|>|<|=)?(?P<value>.+)")
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([km]?)")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_COUNTS = {"": 1, "k": 1000, "m": 1_000_000}
_HOW: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}


def _judged(matches: Matches[GroupRow]) -> Matches[Row]:
    """What only a verdict says."""
    return lambda row: isinstance(row, GroupRow) and matches(row)


def _measure(
    of: Callable[[GroupRow], float | None], read: Callable[[str], float | None], such: str
) -> Key[Row]:
    """What is not known is neither more nor less."""

    def matches(term: Term) -> Matches[Row]:
        compared = _COMPARED.fullmatch(f"{'=' if term.is_exact else ''}{term.value}")
        wanted = read(compared["value"]) if compared else None
        if compared is None or wanted is None:
            raise ValueError(f"{term.key}: needs {such}.")
        holds = _HOW[compared["how"] or ">="]
        limit = wanted
        return _judged(lambda row: (measured := of(row)) is not None and holds(measured, limit))

    return matches


def _milliseconds(text: str) -> float | None:
    """`90s`, `1h30m`."""
    parts = _TIME.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _number(text: str) -> float | None:
    """`1000`, `1,000`, `2.5k`."""
    found = _COUNT.fullmatch(text.replace(",", ""))
    return None if found is None else float(found[1]) * _COUNTS[found[2]]


_STATUSES: dict[str, Matches[Row]] = {
    "bad": _judged(lambda row: row.last_status != "OK"),
    "err": _judged(lambda row: row.last_status == "ERR"),
    "warn": _judged(lambda row: row.last_status == "WARN"),
    "unknown": _judged(lambda row: row.status == "UNKNOWN"),
    "ok": _judged(lambda row: row.status == "OK"),
}


def _of_kind(kind: Kind) -> Matches[Row]:
    return _judged(lambda row: row.kind == kind)


_STATES: dict[str, Matches[Row]] = {
    "any": lambda _: True,
    **{kind: _of_kind(kind) for kind in get_args(Kind)},
    "losing": _judged(lambda row: row.data_loss == "now"),
    "endangered": _judged(lambda row: row.data_loss == "soon"),
    "acknowledged": _judged(lambda row: row.acknowledgement is not None),
    "silenced": lambda row: row.silence is not None,
    "empty": lambda row: row.is_deserted,
}


def texts_of(cause: Cause | None) -> Iterable[str]:
    """What is searched for a cause."""
    return (
        text for each in (cause.findings if cause else ()) for text in (each.name, each.sentence)
    )


A_CAUSE = "a word of it, such as cause:poison"


class GroupSearch(Search[Row]):
    """Of groups, with a verdict and without."""

    keys: ClassVar[Mapping[str, Key[Row]]] = {
        "cluster": text_of(lambda row: (row.cluster,)),
        "group": text_of(lambda row: (row.group,)),
        "topic": text_of(lambda row: row.topics),
        "client": text_of(
            lambda row: (member.client_id for member in row.members),
            "a client id, or a part of one",
        ),
        "host": text_of(
            lambda row: (member.host for member in row.members), "a host, or a part of one"
        ),
        "owner": text_of(
            lambda row: (row.owner,),
            'a name, or a part of one; owner:="" finds groups without one',
        ),
        "cause": text_of(
            lambda row: texts_of(row.cause if isinstance(row, GroupRow) else None), A_CAUSE
        ),
        "status": choice_of(_STATUSES),
        "is": choice_of(_STATES),
        "late": _measure(lambda row: row.late_ms, _milliseconds, "a duration, e.g. late:>10m"),
        "loss": _measure(
            lambda row: row.view.time_to_loss_ms, _milliseconds, "a duration, e.g. loss:<1h"
        ),
        "since": _measure(
            lambda row: None if row.since is None else row.present.now - row.since,
            _milliseconds,
            "a duration, e.g. since:<30m",
        ),
        "lag": _measure(lambda row: row.view.event.total_lag, _number, "a number, e.g. lag:>1000"),
    }

    def words(self, row: Row) -> str:
        people = (word for member in row.members for word in (member.client_id, member.host))
        return "\n".join((f"{row.cluster}/{row.group}", *row.topics, *people))
