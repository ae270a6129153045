"""Several incidents in one message."""

from collections.abc import Sequence
from dataclasses import dataclass

from warren.contracts import DigestKey

from warren_notifier.state.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Digest:
    """What one message tells: at least one news, or how all stands now. The same news have the
    same `digest_id`.
    """

    digest_id: str
    key: DigestKey
    news: Sequence[Delivery]
    """In the order in which they happened, per group; of several about one the last counts."""
    lasting: Sequence[str]
    """Newest events of incidents that were told before, still last, and have no news."""
    thread: str | None
    """The message that began the thread; None: this one does."""

    @property
    def alone(self) -> Delivery | None:
        """The only news, told as it would be without a digest."""
        return self.news[0] if len(self.news) == 1 else None

    @property
    def thread_after(self) -> str:
        """The thread that the next message is in."""
        if self.thread is not None:
            return self.thread
        if self.alone is None:
            return self.digest_id
        return f"{self.alone.pending.incident_id}.{self.alone.pending.channel}"
