"""Files that change while the worker runs: objectives of warren.toml, and renewed credentials."""

import threading
from collections.abc import Callable
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


LOOK_EVERY = 2.0  # seconds; a file is read once it has stayed the same from one look to the next


class FilesWatch(threading.Thread):
    """Looks until it is told to stop."""

    def __init__(self, *looks: Callable[[], None]) -> None:
        super().__init__(name="files-watch", daemon=True)
        self._looks = looks
        self._stop_event = threading.Event()

    def run(self) -> None:
        while not self._stop_event.wait(LOOK_EVERY):
            for look in self._looks:
                look()

    def stop(self) -> None:
        self._stop_event.set()
