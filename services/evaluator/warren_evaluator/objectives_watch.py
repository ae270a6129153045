"""Objectives are taken up while the worker runs: warren.toml is looked at every few seconds."""

from __future__ import annotations

import threading
from pathlib import Path

from warren.settings import Settings
from warren.settings_watch import OBJECTIVES, SettingsWatch
from warren_core.objectives.limits import ObjectiveBook

from warren_evaluator.latenesses import Latenesses

LOOK_EVERY = 2.0  # seconds; a file is read once it has stayed the same from one look to the next


class ObjectivesWatch(threading.Thread):
    """Ends when it is told to stop."""

    def __init__(self, path: Path | None, settings: Settings, latenesses: Latenesses) -> None:
        """`settings`: as they were read from `path`."""
        super().__init__(name="objectives-watch", daemon=True)
        self._watch = SettingsWatch(path, settings, OBJECTIVES)
        self._latenesses = latenesses
        self._stop_event = threading.Event()

    def run(self) -> None:
        while not self._stop_event.wait(LOOK_EVERY):
            self.look()

    def look(self) -> None:
        found = self._watch.look()
        if found is not None:
            self._latenesses.book = ObjectiveBook(found.objectives, found.groups)

    def stop(self) -> None:
        self._stop_event.set()
