"""What all embedded servers share: they run for the length of a `with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Server(ABC):
    """Started on entry, stopped on exit."""

    @abstractmethod
    def start(self) -> None:
        """Returns once it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stops it; no harm when it does not run."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
