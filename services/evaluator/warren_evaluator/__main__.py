"""`warren-evaluator`: judges consumer groups from `warren.offsets`."""

import asyncio
import logging
import threading
from contextlib import ExitStack
from pathlib import Path
from socket import gethostname

import structlog
from warren import log as logs
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.garbage import collect_seldom, settle
from warren.kafka.topics import HOME, await_home
from warren.kafka.trouble import Trouble
from warren.metrics import evaluator as metrics
from warren.service import command, probed, stop_by_signal
from warren.settings import Settings
from warren.settings_file import load_settings
from warren.standstill import StandstillWatch

from warren_evaluator.app import Evaluator, create_evaluator
from warren_evaluator.faust_corrections.kafka_trouble import KafkaTrouble
from warren_evaluator.faust_corrections.worker import Worker
from warren_evaluator.files_watch import FilesWatch, ObjectivesWatch
from warren_evaluator.home.credentials import CredentialsWatch
from warren_evaluator.home.preparation import app_id, prepare
from warren_evaluator.progress import WORK, WorkerProgress, count_groups

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
        _make_data_dir(settings)
        watch = StandstillWatch(
            settings.standstill,
            {WORK: WorkerProgress(settings, evaluator).look},
            metrics.EVALUATOR_STALLED,
            SystemClock(),
        )
        closing.enter_context(watch)
        files = FilesWatch(
            ObjectivesWatch(config, read, evaluator.latenesses).look,
            CredentialsWatch(HOME, settings.home, evaluator.app).look,
        )
        files.start()
        closing.callback(files.stop)
        settle()
        collect_seldom()
        log.info("starting", app_id=app_id(settings), partitions=partitions)
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        Worker(evaluator.app, loop, stop).execute_from_commandline()


def _make_data_dir(settings: Settings) -> None:
    try:
        Path(settings.evaluator.data_dir).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            "evaluator.data_dir", f"cannot make {error.filename}: {error.strerror}"
        ) from None


if __name__ == "__main__":
    main()
