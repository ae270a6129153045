"""A producer of Warren's topics that keeps what it was given, and acknowledges it or fails."""

from warren.errors import PublishFailed

Sent = tuple[str, bytes | None, bytes | None]
"""Topic, key and value."""
AWAY = PublishFailed("home", "home", "away")


class PlayedBus:
    def __init__(self) -> None:
        self.problem: PublishFailed | None = None
        """With which all that is sent is refused."""
        self.refused: list[Sent] = []
        self.acknowledged: list[Sent] = []
        self._sent: list[Sent] = []

    def send(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        self._sent.append((topic, key, value))

    def flush(self) -> None:
        sent, self._sent = self._sent, []
        if self.problem is not None:
            self.refused = sent
            raise self.problem
        self.acknowledged += sent
