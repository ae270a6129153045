"""The worker's progress: what waits for it on `warren.offsets`, and whether it moves."""

from collections import Counter
from functools import partial

from faust.exceptions import ConsumerNotStarted
from warren.contracts.status import Status
from warren.contracts.topics import OFFSETS
from warren.kafka.group_backlog import GroupBacklog
from warren.metrics import evaluator as metrics
from warren.settings import Settings
from warren.standstill import Look
from warren_core.judgement.state_codec import peek_status

from warren_evaluator.app import Evaluator
from warren_evaluator.faust_corrections.window_table import WindowTable
from warren_evaluator.home.preparation import app_id

WORK = "judging"


class WorkerProgress:
    """Of one worker; may be asked in any thread."""

    def __init__(self, settings: Settings, evaluator: Evaluator) -> None:
        self._topic = OFFSETS.full_name(settings.home.topic_prefix)
        self._backlog = GroupBacklog(settings.home, app_id(settings), self._topic)
        self._evaluator = evaluator

    def look(self) -> Look:
        """Raises the classified error when the home cluster does not answer, or refuses.

        A worker without partitions looks at all of them: it may have left its group without
        knowing. Where the other workers move, nothing stands still.
        """
        backlog = self._backlog.read()
        mine = self._assigned() or backlog.waiting.keys()
        return Look(
            waiting=sum(backlog.waiting.get(partition, 0) for partition in mine),
            mark=(
                tuple(backlog.committed.get(partition) for partition in sorted(mine)),
                self._evaluator.pipeline.judged,
                self._evaluator.table.replayed,
                self._evaluator.members.replayed,
                self._evaluator.lateness.replayed,
                self._evaluator.incidents.replayed,
            ),
        )

    def _assigned(self) -> set[int]:
        try:
            assigned = self._evaluator.app.consumer.assignment()
        except ConsumerNotStarted:
            return set()
        return {place.partition for place in assigned if place.topic == self._topic}


GROUP_STATUSES = (Status.OK, Status.WARN, Status.ERR)


def count_groups(table: WindowTable) -> None:
    """Groups by status; those that are not OK have an open incident."""
    for status in GROUP_STATUSES:
        metrics.EVALUATOR_GROUPS.labels(status.name).set_function(partial(_count, table, status))


def _count(table: WindowTable, status: Status) -> float:
    return float(Counter(peek_status(value) for _, value, _ in table.entries())[status])
