"""`warren-evaluator`: judges consumer groups from `warren.offsets`.

While the worker runs, it takes up objectives of warren.toml and credentials that change, and looks
whether what waits for it moves.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from socket import gethostname

import structlog
from faust.exceptions import ConsumerNotStarted
from warren import log as logs
from warren.clock import SystemClock
from warren.contracts.status import Status
from warren.contracts.topics import OFFSETS
from warren.errors import SettingsError
from warren.garbage import collect_seldom, settle
from warren.kafka.connection import Trouble
from warren.kafka.group_backlog import GroupBacklog
from warren.kafka.topics import HOME, await_home
from warren.metrics import evaluator as metrics
from warren.service import command, probed, stop_by_signal
from warren.settings import Settings
from warren.settings_file import OBJECTIVES, SettingsWatch, load_settings
from warren.standstill import Look, StandstillWatch
from warren_core.judgement.state_codec import peek_status
from warren_core.objectives.limits import ObjectiveBook

from warren_evaluator.app import Evaluator, create_evaluator
from warren_evaluator.faust_corrections.kafka_trouble import KafkaTrouble
from warren_evaluator.faust_corrections.window_table import WindowTable
from warren_evaluator.faust_corrections.worker import Worker
from warren_evaluator.home.credentials import CredentialsWatch
from warren_evaluator.home.preparation import app_id, prepare
from warren_evaluator.latenesses import Latenesses


class ObjectivesWatch:
    """Looks each time it is told to."""

    def __init__(self, path: Path | None, settings: Settings, latenesses: Latenesses) -> None:
        """`settings`: as they were read from `path`."""
        self._watch = SettingsWatch(path, settings, OBJECTIVES)
        self._latenesses = latenesses

    def look(self) -> None:
        found = self._watch.look()
        if found is not None:
            self._latenesses.book = ObjectiveBook(found.objectives, found.groups)


LOOK_EVERY = 2.0  # seconds; a file is read once it has stayed the same from one look to the next


def watch_files(stop: threading.Event, looks: Sequence[Callable[[], None]]) -> None:
    """Look until `stop` is set."""
    while not stop.wait(LOOK_EVERY):
        for look in looks:
            look()


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


log = structlog.get_logger(__name__)

# Our subclasses of Faust's services, which report every step at level info.
FAUST_SERVICES = "warren_evaluator.faust_corrections"


def main() -> None:
    """Run the service. Exit 0: told to stop. 1: crashed, start me again. 2: wrong settings."""
    command("evaluator", __doc__, _start)


def _start(config: Path | None) -> None:
    settings = load_settings(config)
    handler = logs.configure(settings.log, service="evaluator", quiet=(*logs.NOISY, FAUST_SERVICES))
    # Below errors aiokafka has nothing that an operator could use.
    logging.getLogger("aiokafka").setLevel(logging.ERROR)
    handler.addFilter(KafkaTrouble(SystemClock()))
    _run(settings, config)


def _run(read: Settings, config: Path | None) -> None:
    """`read` from the file `config`."""
    settings = read.of_service("evaluator", gethostname())
    stop = threading.Event()
    stop_by_signal(stop.set)
    preparing = Trouble(HOME, SystemClock(), over="the home cluster is as it should be")
    evaluator: Evaluator | None = None
    watch: StandstillWatch | None = None

    def ready() -> bool | str:
        working = evaluator is not None and evaluator.ready()
        return (watch and watch.reason) or working or preparing.look().obstacle

    with probed("evaluator", settings, metrics.EVALUATOR, ready), ExitStack() as closing:
        partitions = await_home(
            settings.home, lambda admin: prepare(admin, settings), stop, preparing
        )
        if partitions is None:
            return
        evaluator = create_evaluator(settings, partitions, SystemClock())
        count_groups(evaluator.table)
        try:
            Path(settings.evaluator.data_dir).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                "evaluator.data_dir", f"cannot make {error.filename}: {error.strerror}"
            ) from None
        watch = StandstillWatch(
            settings.standstill,
            {WORK: WorkerProgress(settings, evaluator).look},
            metrics.EVALUATOR_STALLED,
            SystemClock(),
        )
        closing.enter_context(watch)
        looks = (
            ObjectivesWatch(config, read, evaluator.latenesses).look,
            CredentialsWatch(HOME, settings.home, evaluator.app).look,
        )
        threading.Thread(
            target=watch_files, args=(stop, looks), name="files-watch", daemon=True
        ).start()
        settle()
        collect_seldom()
        log.info("starting", app_id=app_id(settings), partitions=partitions)
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        Worker(evaluator.app, loop, stop).execute_from_commandline()


if __name__ == "__main__":
    main()
