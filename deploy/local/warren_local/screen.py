"""What `warren up` tells the person who started it."""

from __future__ import annotations

from typing import Protocol


class Screen(Protocol):
    """Terminal or plain output; implemented by the command. No method fails when nobody reads."""

    def say(self, line: str) -> None:
        """One line, at once."""

    def follow(self, url: str) -> None:
        """From now on show the groups that the API at `url` knows."""

    def close(self) -> None:
        """Stop showing groups; `say` still works."""
