"""What people have asked for: silences and acknowledgements, as their topics say, in memory.

Written by one thread, read by many. Pure; whoever owns a reader hands records over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import Acknowledgement, Silence
from warren.errors import ContractViolation
from warren.patterns import searcher

GROUPS = 100_000  # of which it is remembered at most what silences them


class _Compiled(NamedTuple):
    silence: Silence
    matches: Callable[[str, str], bool]


class Silences:
    """The newest record of each silence and acknowledgement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silences: dict[str, _Compiled] = {}
        self._matching: dict[tuple[str, str], dict[str, Silence]] = {}
        """Of groups that were asked for, by id: looking through thousands takes milliseconds."""
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
        id_ = _id(key)
        compiled = None
        if value is not None:
            silence = Silence.from_bytes(value)
            _require_key(id_, silence.id)
            compiled = _Compiled(silence, group_matcher(silence.cluster, silence.group))
        with self._lock:
            self._silences.pop(id_, None)
            if compiled is not None:
                self._silences[id_] = compiled
            for (cluster, group), found in self._matching.items():
                found.pop(id_, None)
                if compiled is not None and compiled.matches(cluster, group):
                    found[id_] = compiled.silence
            self.revision += 1

    def apply_acknowledgement(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.acknowledgements`, likewise."""
        id_ = _id(key)
        acknowledgement = None
        if value is not None:
            acknowledgement = Acknowledgement.from_bytes(value)
            _require_key(id_, acknowledgement.incident_id)
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
            self._matching.clear()
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
        with self._lock:
            found = self._matching.get((cluster, group))
            if found is None:
                if len(self._matching) >= GROUPS:
                    self._matching.clear()
                found = {
                    id_: compiled.silence
                    for id_, compiled in self._silences.items()
                    if compiled.matches(cluster, group)
                }
                self._matching[cluster, group] = found
            return list(found.values())

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


def group_matcher(cluster: str, group: str) -> Callable[[str, str], bool]:
    """Says of a (cluster, group) whether both expressions match; empty ones match everything.

    Raises ContractViolation for what is no expression.
    """
    try:
        of_cluster, of_group = searcher(cluster), searcher(group)
    except ValueError as error:
        raise ContractViolation(str(error)) from None
    return lambda name, group_name: of_cluster(name) and of_group(group_name)


def _id(key: bytes | None) -> str:
    try:
        return (key or b"").decode()
    except UnicodeDecodeError as error:
        raise ContractViolation(f"key is not UTF-8: {error}") from error


def _require_key(key: str, id_: str) -> None:
    if key != id_:
        raise ContractViolation("key and value name different ones")
