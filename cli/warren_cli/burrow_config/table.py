"""A table of burrow.toml that knows which of its keys were read, so that none is lost silently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from warren.errors import SettingsError


class Remark(NamedTuple):
    """Something about a setting of Burrow that the user should know."""

    setting: str
    text: str

    def __str__(self) -> str:
        return f"{self.setting}: {self.text}"


def lower_keys(value: Any) -> Any:
    """Burrow's library for settings ignores case, so `[cluster.Prod]` is the cluster prod."""
    if isinstance(value, Mapping):
        return {str(key).lower(): lower_keys(item) for key, item in value.items()}
    return value


class BurrowTable:
    """Values of one table. Reading a key, or remarking on it, marks it as done with."""

    def __init__(self, path: str, values: Mapping[str, Any], remarks: list[Remark]) -> None:
        self.path = path
        self._values = values
        self._remarks = remarks
        self._read: set[str] = set()
        self._tables: dict[str, BurrowTable] = {}

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def is_unread(self) -> bool:
        return not self._read

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str, default: str = "") -> str:
        value = self._take(key, default)
        if isinstance(value, Mapping | list):
            raise self._unusable(key, "a text is needed")
        return str(value)

    def integer(self, key: str, default: int) -> int:
        value = self._take(key, default)
        try:
            return int(value)
        except (TypeError, ValueError):
            raise self._unusable(key, "a whole number is needed") from None

    def decimal(self, key: str, default: float) -> float:
        value = self._take(key, default)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self._unusable(key, "a number is needed") from None

    def flag(self, key: str) -> bool:
        return str(self._take(key, False)).lower() in ("true", "t", "1")

    def texts(self, key: str) -> list[str]:
        """A list, or one text with blanks between its parts."""
        value = self._take(key, [])
        if not isinstance(value, str | list):
            raise self._unusable(key, "a list is needed")
        return [str(item) for item in (value.split() if isinstance(value, str) else value)]

    def named_texts(self, key: str) -> dict[str, str]:
        value = self._take(key, {})
        if not _is_table(value):
            raise self._unusable(key, "a table is needed")
        return {name: str(text) for name, text in value.items()}

    def expressions(self, *keys: str) -> list[str]:
        """The regular expression under the first of the keys that has one, if Python reads it."""
        for key in keys:
            if expression := self.text(key):
                try:
                    re.compile(expression)
                except re.error as error:
                    self.remark(key, f"left out, Python does not read {expression!r}: {error}")
                    return []
                return [expression]
        return []

    def tables(self) -> list[BurrowTable]:
        """Its sub-tables, `[<path>.<name>]`."""
        return [self.table(key) for key, value in self._values.items() if _is_table(value)]

    def table(self, key: str) -> BurrowTable:
        """A sub-table, empty if it is not there."""
        value = self._take(key, {})
        if not _is_table(value):
            raise self._unusable(key, "a table is needed")
        if key not in self._tables:
            path = f"{self.path}.{key}" if self.path else key
            self._tables[key] = BurrowTable(path, value, self._remarks)
        return self._tables[key]

    def remark(self, key: str, text: str) -> None:
        """Says something of a key, or of the whole table."""
        self._read.add(key)
        remark = Remark(".".join(part for part in (self.path, key) if part), text)
        if remark not in self._remarks:
            self._remarks.append(remark)

    def without_counterpart(self, reasons: Mapping[str, str]) -> None:
        """Remarks on those of the keys that are there."""
        for key, text in reasons.items():
            if key in self._values:
                self.remark(key, text)

    def remark_on_the_rest(self) -> None:
        """Remarks on every key that was not read."""
        for key in self._values:
            if key not in self._read:
                self.remark(key, "unknown here, left out")

    def _take(self, key: str, default: Any) -> Any:
        self._read.add(key)
        return self._values.get(key, default)

    def _unusable(self, key: str, problem: str) -> SettingsError:
        return SettingsError(f"{self.path}.{key}", problem)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)
