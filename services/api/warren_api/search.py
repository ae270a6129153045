"""What is written into the search field, and which groups it finds.

Words are looked for in a group's cluster and name, topics, clients and hosts; `key:value` asks for
one thing, `key:=value` for a whole name, `key:>value` for more, a comma for either, a leading `-`
for all others: `billing status:err,warn late:>10m -is:silenced`. Upper and lower case are the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable

from warren_api.group_row import GroupRow
from warren_api.model.group import GroupView
from warren_api.search_terms import Term, terms

Matches = Callable[[GroupRow], bool]
Key = Callable[[Term], Matches]
"""What a key asks for. Raises ValueError that says what would be understood."""
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


class Search:
    """`problems`: sentences about what was not understood; nothing is found then."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.problems: list[str] = []
        self._terms = terms(text, _KEYS)
        self._matches: list[Matches] = []
        for term in self._terms:
            try:
                self._matches.append(_matches(term))
            except ValueError as error:
                self.problems.append(str(error))

    def finds(self, row: GroupRow) -> bool:
        return not self.problems and all(matches(row) for matches in self._matches)

    def finds_name(self, cluster: str, group: str) -> bool:
        """Whether words alone were asked for, and the name has them all: of a group without a
        verdict nothing else is known.
        """
        name = f"{cluster}/{group}".casefold()
        return not any(term.key or term.is_excluded for term in self._terms) and all(
            term.value in name for term in self._terms
        )


def _matches(term: Term) -> Matches:
    """Raises ValueError that says what would be understood."""
    found = _KEYS[term.key](term) if term.key else _word(term.value)
    if term.is_excluded:
        return lambda row: not found(row)
    return found


def _word(value: str) -> Matches:
    return lambda row: value in _words_of(row.view)


def _words_of(view: GroupView) -> str:
    if "words" not in view.rendered:
        members = view.membership.event.members if view.membership else ()
        people = (word for member in members for word in (member.client_id, member.host))
        name = f"{view.cluster}/{view.group}"
        view.rendered["words"] = "\n".join((name, *view.event.topics, *people)).casefold()
    return view.rendered["words"]


def _text(of: Callable[[GroupRow], Iterable[str]]) -> Key:
    return lambda term: lambda row: term.fits(*of(row))


def _choice(key: str, choices: dict[str, Matches]) -> Key:
    def asked(term: Term) -> Matches:
        parts = term.alternatives
        if not all(part in choices for part in parts):
            raise ValueError(f"{key}: is one of {', '.join(choices)}.")
        return lambda row: any(choices[part](row) for part in parts)

    return asked


def _measure(
    key: str, of: Callable[[GroupRow], float | None], read: Callable[[str], float | None], such: str
) -> Key:
    """What is not known is neither more nor less."""

    def asked(term: Term) -> Matches:
        compared = _COMPARED.fullmatch(f"{'=' if term.is_exact else ''}{term.value}")
        wanted = read(compared["value"]) if compared else None
        if compared is None or wanted is None:
            raise ValueError(f"{key}: is {such}.")
        holds = _HOW[compared["how"] or ">="]
        limit = wanted
        return lambda row: (measured := of(row)) is not None and holds(measured, limit)

    return asked


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


def _clients(row: GroupRow) -> Iterable[str]:
    members = row.view.membership.event.members if row.view.membership else ()
    return (member.client_id for member in members)


def _hosts(row: GroupRow) -> Iterable[str]:
    members = row.view.membership.event.members if row.view.membership else ()
    return (member.host for member in members)


def _age(row: GroupRow) -> float | None:
    return None if row.since is None else row.asked.now - row.since


_STATUSES: dict[str, Matches] = {
    "bad": lambda row: row.verdict.status != "OK",
    "err": lambda row: row.verdict.status == "ERR",
    "warn": lambda row: row.verdict.status == "WARN",
    "unknown": lambda row: row.verdict.status == "UNKNOWN",
    "ok": lambda row: row.verdict.status == "OK",
}
_STATES: dict[str, Matches] = {
    "losing": lambda row: row.view.lost_records > 0,
    "endangered": lambda row: row.view.is_losing and not row.view.lost_records,
    "acknowledged": lambda row: row.acknowledgement is not None,
    "silenced": lambda row: row.silence is not None,
    "empty": lambda row: row.is_deserted,
}
_KEYS: dict[str, Key] = {
    "cluster": _text(lambda row: (row.view.cluster,)),
    "group": _text(lambda row: (row.view.group,)),
    "topic": _text(lambda row: row.view.event.topics),
    "client": _text(_clients),
    "host": _text(_hosts),
    "owner": _text(lambda row: (row.owner,)),
    "cause": _text(lambda row: (row.cause.name, row.cause.sentence) if row.cause else ()),
    "status": _choice("status", _STATUSES),
    "is": _choice("is", _STATES),
    "late": _measure("late", lambda row: row.late_ms, _milliseconds, "a time, such as >10m"),
    "loss": _measure(
        "loss", lambda row: row.view.time_to_loss_ms, _milliseconds, "a time, such as <1h"
    ),
    "since": _measure("since", _age, _milliseconds, "a time, such as <30m"),
    "lag": _measure(
        "lag", lambda row: row.view.event.total_lag, _number, "a number, such as >1000"
    ),
}
