"""What people have asked for: silences and acknowledgements, as their topics say, in memory.

Written by one thread, read by many. Pure; whoever owns a reader hands records over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from warren.contracts import Acknowledgement, Silence
from warren.errors import ContractViolation
from warren.patterns import searcher


def record_id(key: bytes | None) -> str:
    """Raises ContractViolation when the key is not UTF-8."""
    try:
        return (key or b"").decode()
    except UnicodeDecodeError as error:
        raise ContractViolation(f"key is not UTF-8: {error}") from error


def require_id(of_key: str, of_value: str) -> None:
    """Raises ContractViolation where key and value are not of the same."""
    if of_key != of_value:
        raise ContractViolation("key and value name different ones")


OfGroup = Callable[[str, str], bool]
OwnerOf = Callable[[str, str], str | None]
GROUPS = 100_000  # of which it is remembered at most what silences them


class _Compiled(NamedTuple):
    """`number`: one higher for each record."""

    number: int
    silence: Silence
    matches: OfGroup


class _Looked(NamedTuple):
    """What silences a group: the numbers of those that match, by id, of all up to `number`."""

    number: int
    found: dict[str, int]


_NEVER = _Looked(0, {})


class Silences:
    """The newest record of each silence and acknowledgement."""

    def __init__(self, owner_of: OwnerOf = lambda _cluster, _group: None) -> None:
        """`owner_of`: whose a group is; for as long as this lives."""
        self.owner_of = owner_of
        self._lock = threading.Lock()
        self._silences: dict[str, _Compiled] = {}  # by number, the lowest first
        self._number = 0
        self._looked: dict[tuple[str, str], _Looked] = {}
        """Of groups that were asked for: looking through thousands takes milliseconds."""
        self._acknowledgements: dict[str, Acknowledgement] = {}
        self.revision = 0
        """Another one whenever there was a record."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no silence, of whatever time."""
        return not self._silences

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.silences`; a tombstone removes one.

        Raises ContractViolation, and keeps what it has, when the record is no silence.
        """
        id_ = record_id(key)
        silence = None if value is None else Silence.from_bytes(value)
        if silence is not None:
            require_id(id_, silence.id)
            matches = self.matcher(silence.cluster, silence.group, silence.owner)
        with self._lock:
            self._silences.pop(id_, None)
            if silence is not None:
                self._number += 1
                self._silences[id_] = _Compiled(self._number, silence, matches)
            self.revision += 1

    def matcher(self, cluster: str, group: str, owner: str) -> OfGroup:
        """Says of a (cluster, group) whether a silence of these is about it.

        Raises ContractViolation as `group_matcher` does.
        """
        matches = group_matcher(cluster, group)
        if not owner:
            return matches
        return lambda *name: matches(*name) and self.owner_of(*name) == owner

    def apply_acknowledgement(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.acknowledgements`, likewise."""
        id_ = record_id(key)
        acknowledgement = None
        if value is not None:
            acknowledgement = Acknowledgement.from_bytes(value)
            require_id(id_, acknowledgement.incident_id)
        with self._lock:
            self._acknowledgements.pop(id_, None)
            if acknowledgement is not None:
                self._acknowledgements[id_] = acknowledgement
            self.revision += 1

    def keep_only(self, silences: Collection[str], acknowledgements: Collection[str]) -> None:
        """Drops what a complete reading of the topics did not show."""
        with self._lock:
            self.revision += 1
            self._silences = {i: s for i, s in self._silences.items() if i in silences}
            self._acknowledgements = {
                i: a for i, a in self._acknowledgements.items() if i in acknowledgements
            }

    def all(self) -> list[Silence]:
        """Those that hold, will, or did, the newest first."""
        with self._lock:
            found = [compiled.silence for compiled in self._silences.values()]
        return sorted(found, key=lambda silence: (-silence.created_at, silence.id))

    def silence(self, id_: str) -> Silence | None:
        compiled = self._silences.get(id_)
        return None if compiled is None else compiled.silence

    def in_force(self, now: int) -> InForce:
        """Those that hold at `now` (Unix milliseconds)."""
        return InForce(self, now)

    def matching(self, cluster: str, group: str) -> list[Silence]:
        """Those of a group, whether they hold or not."""
        name = cluster, group
        with self._lock:
            looked = self._looked.get(name, _NEVER)
            newest_first = reversed(self._silences.values())
            newer = list(takewhile(lambda each: each.number > looked.number, newest_first))
        if newer:
            # Without the lock: whoever has others to ask for would wait.
            looked = self._look(name, looked, newer)
        known = ((self._silences.get(id_), number) for id_, number in looked.found.items())
        return [each.silence for each, number in known if each and each.number == number]

    def _look(
        self, name: tuple[str, str], looked: _Looked, newer: Collection[_Compiled]
    ) -> _Looked:
        """Matches a group with the silences that are new since it was asked for."""
        matching = {each.silence.id: each.number for each in newer if each.matches(*name)}
        found = looked.found | matching
        with self._lock:
            if len(self._looked) >= GROUPS and name not in self._looked:
                self._looked.clear()
            current = {
                id_: number
                for id_, number in found.items()
                if id_ in self._silences and self._silences[id_].number == number
            }
            self._looked[name] = _Looked(max(each.number for each in newer), current)
            return self._looked[name]

    def acknowledgement(self, incident_id: str) -> Acknowledgement | None:
        return self._acknowledgements.get(incident_id)


@dataclass(frozen=True, slots=True)
class InForce:
    """Silences that hold at one moment; false where there are none at all."""

    silences: Silences
    now: int

    def __bool__(self) -> bool:
        return not self.silences.is_empty

    def of(self, cluster: str, group: str) -> Silence | None:
        """The one that silences a group, of several the one that ends last; None: nothing does."""
        found = [s for s in self.silences.matching(cluster, group) if s.holds_at(self.now)]
        return max(found, key=lambda silence: silence.ends_at, default=None)


def group_matcher(cluster: str, group: str) -> OfGroup:
    """Says of a (cluster, group) whether both expressions match; empty ones match everything.

    Raises ContractViolation for what is no expression, or one too large.
    """
    try:
        of_cluster, of_group = searcher(cluster), searcher(group)
    except ValueError as error:
        raise ContractViolation(str(error)) from None
    return lambda name, group_name: of_cluster(name) and of_group(group_name)
