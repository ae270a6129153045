"""Files that change while the worker runs: objectives of warren.toml, and renewed credentials."""

import threading
from collections.abc import Callable

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
