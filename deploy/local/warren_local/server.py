"""What all embedded servers share: they run for the length of a `with`."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from warren_local.child import Child


class Server(ABC):
    """Started on entry, stopped on exit. `_child`: while it runs."""

    _child: Child | None = None

    @abstractmethod
    def start(self) -> None:
        """Returns once it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stops it; no harm when it does not run."""

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Meanwhile it hangs: connections stay open, and nobody answers."""
        assert self._child is not None
        self._child.suspend()
        try:
            yield
        finally:
            self._child.resume()

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
