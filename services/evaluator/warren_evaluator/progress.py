"""The worker's progress: what waits for it on `warren.offsets`, and whether it moves."""

from faust.exceptions import ConsumerNotStarted
from warren.contracts.topics import OFFSETS
from warren.kafka.group_backlog import GroupBacklog
from warren.settings import Settings
from warren.standstill import Look

from warren_evaluator.app import Evaluator
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
