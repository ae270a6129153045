"""Objectives are taken up while the worker runs: warren.toml is looked at every few seconds."""

from pathlib import Path

from warren.settings import Settings
from warren.settings_watch import OBJECTIVES, SettingsWatch
from warren_core.objectives.limits import ObjectiveBook

from warren_evaluator.latenesses import Latenesses


class ObjectivesWatch:
    """Looks each time it is told to."""

    def __init__(self, path: Path | None, settings: Settings, latenesses: Latenesses) -> None:
        """`settings`: as they were read from `path`."""
        self._watch = SettingsWatch(path, settings, OBJECTIVES)
        self._latenesses = latenesses

    def look(self) -> None:
        found = self._watch.look()
        if found is not None:
            self._latenesses.book = ObjectiveBook(found.objectives, found.groups)
