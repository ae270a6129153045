"""Recovery of tables that loses no event."""

from typing import Any

from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.types import TP


class SafeRecovery(Recovery):
    """A recovery after which no event is lost.

    When a changelog was replayed, Faust 0.15.3 opens the source partitions, then seeks them to
    their committed offsets, then empties the agents' queues: what was delivered in between is
    dropped, and later counted as a gap that needs no acknowledgement. Here nothing is delivered
    until the seek is done.

    A step that takes longer than `broker_request_timeout` ends Faust's recovery for good, without
    a word. Here every step ends by itself: it is done, or an error ends the worker.
    """

    async def on_recovery_completed(self, generation_id: int = 0) -> None:
        self.app.consumer.stop_flow()
        self.app.flow_control.suspend()
        await super().on_recovery_completed(generation_id)

    def wrote(self, changelog: TP, offset: int, generation: int) -> None:
        """This record of a changelog is in the table, for it came from there.

        Faust remembers only what it has replayed: in every rebalance it would replay all that was
        written since. `generation` is that in which the record was sent: of a partition that was
        others' in between, more than this record is new.
        """
        is_mine = changelog in self.active_tps and not self.in_recovery
        if is_mine and generation == self.app.consumer_generation_id:
            known: int | None = self.active_offsets.get(changelog)
            self.active_offsets[changelog] = max(offset, -1 if known is None else known)

    async def _wait(self, coro: Any, timeout: Any = None) -> None:
        del timeout
        await super()._wait(coro)


class SafeTableManager(TableManager):
    """Uses `SafeRecovery`."""

    @property
    def recovery(self) -> SafeRecovery:
        if self._recovery is None:
            self._recovery = SafeRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        assert isinstance(self._recovery, SafeRecovery)
        return self._recovery
