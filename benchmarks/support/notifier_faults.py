"""What breaks around notifiers: they are killed and frozen, and what they need goes away."""

from support.notified_home import Notifiers
from support.receivers import Webhooks
from warren_local.kafka import EmbeddedKafka
from warren_local.server import EmbeddedValkey

FROZEN = 15.0  # seconds: longer than the session timeout, so that others take over meanwhile


class Faults:
    """What breaks, and when: told the time again and again."""

    def __init__(
        self,
        notifiers: Notifiers,
        broker: EmbeddedKafka,
        valkey: EmbeddedValkey,
        dead: Webhooks,
        seconds: float,
        kills: int,
        freezes: int,
    ) -> None:
        self._notifiers = notifiers
        self._dead = dead
        self._is_dead = False
        self._seconds = seconds
        self._valkey = valkey
        planned = [(0.9 * seconds * (n + 1) / (kills + 1), notifiers.kill) for n in range(kills)]
        for number in range(freezes):
            begin = seconds * (number + 0.5) / (freezes + 1)
            planned += [(begin, notifiers.freeze), (begin + FROZEN, notifiers.wake)]
        planned += [(0.45 * seconds, lambda: self._restart(broker)), (0.3 * seconds, valkey.kill)]
        planned.append((0.6 * seconds, valkey.start))
        self._planned = sorted(planned, key=lambda one: one[0])

    def at(self, second: float) -> None:
        while self._planned and self._planned[0][0] <= second:
            self._planned.pop(0)[1]()
        self._let_die(int(10 * second / self._seconds) % 2 == 1)

    def end(self) -> None:
        self._notifiers.wake()
        self._let_die(False)

    def _let_die(self, is_dead: bool) -> None:
        if is_dead != self._is_dead:
            self._is_dead = is_dead
            (self._dead.shut if is_dead else self._dead.open)()

    def _restart(self, broker: EmbeddedKafka) -> None:
        broker.kill()
        broker.start()
