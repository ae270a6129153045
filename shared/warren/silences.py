"""What people have asked for: silences and acknowledgements, as their topics say, in memory.

Written by one thread, read by many: what is read is replaced whole. Pure; whoever owns a reader
hands records over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from warren.contracts import Acknowledgement, Silence
from warren.errors import ContractViolation
from warren.patterns import searcher

T = TypeVar("T")


class _Compiled(NamedTuple):
    silence: Silence
    matches: Callable[[str, str], bool]


class Silences:
    """The newest record of each silence and acknowledgement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silences: dict[str, _Compiled] = {}
        self._acknowledgements: dict[str, Acknowledgement] = {}
        self.revision = 0
        """Another one whenever there was a record."""

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
            self._silences = _with(self._silences, id_, compiled)
            self.revision += 1

    def apply_acknowledgement(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.acknowledgements`, likewise."""
        id_ = _id(key)
        acknowledgement = None
        if value is not None:
            acknowledgement = Acknowledgement.from_bytes(value)
            _require_key(id_, acknowledgement.incident_id)
        with self._lock:
            self._acknowledgements = _with(self._acknowledgements, id_, acknowledgement)
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
        found = [compiled.silence for compiled in self._silences.values()]
        return sorted(found, key=lambda silence: (-silence.created_at, silence.id))

    def silence(self, id_: str) -> Silence | None:
        compiled = self._silences.get(id_)
        return None if compiled is None else compiled.silence

    def in_force(self, now: int) -> InForce:
        """Those that hold at `now` (Unix milliseconds)."""
        return InForce([c for c in self._silences.values() if c.silence.holds_at(now)])

    def acknowledgement(self, incident_id: str) -> Acknowledgement | None:
        return self._acknowledgements.get(incident_id)


class InForce:
    """Silences that hold at one moment."""

    def __init__(self, compiled: list[_Compiled]) -> None:
        self._compiled = sorted(compiled, key=lambda c: -c.silence.ends_at)

    def __bool__(self) -> bool:
        return bool(self._compiled)

    def of(self, cluster: str, group: str) -> Silence | None:
        """The one that silences a group, of several the one that ends last; None: nothing does."""
        for silence, matches in self._compiled:
            if matches(cluster, group):
                return silence
        return None


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


def _with(known: dict[str, T], id_: str, value: T | None) -> dict[str, T]:
    rest = {name: one for name, one in known.items() if name != id_}
    return rest if value is None else rest | {id_: value}
