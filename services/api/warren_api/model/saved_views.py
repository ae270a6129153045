"""Views of the overview that people have saved, as their topic says, in memory.

Written by one thread, read by many.
"""

from __future__ import annotations

from collections.abc import Collection

from warren.contracts import SavedView
from warren.contracts.record_id import record_id, require_id


class SavedViews:
    """The newest record of each name."""

    def __init__(self) -> None:
        self._views: dict[str, SavedView] = {}  # replaced whole
        self.revision = 0
        """Another one whenever there was a record."""

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.views`; a tombstone removes one.

        Raises ContractViolation, and keeps what it has, when the record is no view.
        """
        name = record_id(key)
        view = None if value is None else SavedView.from_bytes(value)
        if view is not None:
            require_id(name, view.name)
        others = {known: each for known, each in self._views.items() if known != name}
        self._views = others if view is None else others | {name: view}
        self.revision += 1

    def keep_only(self, names: Collection[str]) -> None:
        """Drops what a complete reading of the topic did not show."""
        self._views = {name: view for name, view in self._views.items() if name in names}
        self.revision += 1

    def all(self) -> list[SavedView]:
        """By name."""
        return sorted(self._views.values(), key=lambda view: (view.name.casefold(), view.name))

    def view(self, name: str) -> SavedView | None:
        return self._views.get(name)
