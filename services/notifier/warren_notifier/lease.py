"""Whether this notifier may still hold its partitions for its own: not after it stood still.

Who wakes after a freeze (SIGSTOP, a suspended machine) finds every timer run out, and sends and
writes what was due, long before the consumer hears that the partitions went to another notifier.
So whoever sends or writes asks here first; what was sent to the network before the freeze is not
called back.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from warren.errors import ProcessFrozen
from warren.kafka.batched_writer import Producer
from warren.kafka.topics import HOME

LONGEST = 0.7
"""Of the session timeout. Heartbeats are a quarter of it apart, so that a freeze of three quarters
may be too long.
"""
LOOKS = 0.05  # of the session timeout, between two looks at the clock


def since_boot() -> float:
    """Seconds that go on while the machine is suspended, where the system can tell."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Lease:
    """Of one session with the home cluster; once broken, it stays so."""

    def __init__(self, session_timeout: float, now: Callable[[], float] = since_boot) -> None:
        """`session_timeout`: seconds."""
        self._longest = LONGEST * session_timeout
        self._look_every = LOOKS * session_timeout
        self._now = now
        self._seen = now()
        self._frozen = 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises ProcessFrozen when nobody has looked for too long, and ever after."""
        with self._lock:
            now = self._now()
            if now - self._seen > self._longest:
                self._frozen = now - self._seen
            self._seen = now
        if self._frozen:
            raise ProcessFrozen(
                HOME,
                "notifier",
                f"stood still for {self._frozen:.1f}s, its partitions may be another notifier's",
            )

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Looks at the clock all the time, in a thread: a busy loop is no freeze."""
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(over,), name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(self._look_every):
            with contextlib.suppress(ProcessFrozen):
                self.check()


class LeasedProducer:
    """Sends nothing when the lease is broken: it would stand over what the next owner has written.

    Raises ProcessFrozen and what `producer` raises.
    """

    def __init__(self, producer: Producer, lease: Lease) -> None:
        self._producer = producer
        self._lease = lease

    def send(self, topic: str, key: bytes | None, value: bytes | None, *, partition: int) -> None:
        self._lease.check()
        self._producer.send(topic, key, value, partition=partition)

    def flush(self) -> None:
        self._producer.flush()
