"""`warren-evaluator`: judges consumer groups from `warren.offsets`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from socket import gethostname

import structlog
from warren import log as logs
from warren import probe
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.kafka.home import await_home
from warren.kafka.topics import HOME
from warren.kafka.trouble import Trouble
from warren.metrics import evaluator as metrics
from warren.settings import Settings
from warren.settings_file import load_settings
from warren.standstill_watch import StandstillWatch

from warren_evaluator.app import Evaluator, create_evaluator
from warren_evaluator.faust_corrections.kafka_trouble import KafkaTrouble
from warren_evaluator.faust_corrections.worker import Worker
from warren_evaluator.files_watch import FilesWatch
from warren_evaluator.home.credentials import CredentialsWatch
from warren_evaluator.home.preparation import app_id, prepare
from warren_evaluator.memory import search_seldom
from warren_evaluator.objectives_watch import ObjectivesWatch
from warren_evaluator.progress import WORK, WorkerProgress
from warren_evaluator.status_metrics import count_groups

log = structlog.get_logger(__name__)

# Our subclasses of Faust's services, which report every step at level info.
FAUST_SERVICES = "warren_evaluator.faust_corrections"


def main(arguments: Sequence[str] | None = None) -> None:
    """Exit 0: told to stop. 1: crashed, start me again. 2: the settings are wrong."""
    parser = argparse.ArgumentParser(prog="warren-evaluator", description=__doc__)
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    options = parser.parse_args(arguments)
    try:
        settings = load_settings(options.config)
        _configure_logs(settings)
        _run(settings, options.config)
    except SettingsError as error:
        print(f"warren-evaluator: {error}", file=sys.stderr)
        sys.exit(2)


def _run(read: Settings, config: Path | None) -> None:
    """`read` from the file `config`."""
    settings = read.of_service("evaluator", gethostname())
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    preparing = Trouble(HOME, SystemClock(), over="the home cluster is as it should be")
    evaluator: Evaluator | None = None
    watch: StandstillWatch | None = None
    files: FilesWatch | None = None
    stop_probe = probe.serve(
        settings.evaluator.metrics_port,
        metrics.EVALUATOR,
        lambda: (
            (watch and watch.reason)
            or (evaluator is not None and evaluator.ready())
            or preparing.look().obstacle
        ),
        setting="evaluator.metrics_port",
        host=settings.probe.host,
    )
    try:
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
        watch.start()
        files = FilesWatch(
            ObjectivesWatch(config, read, evaluator.latenesses).look,
            CredentialsWatch(HOME, settings.home, evaluator.app).look,
        )
        files.start()
        search_seldom()
        log.info("starting", app_id=app_id(settings), partitions=partitions)
        _work(evaluator, stop)
    finally:
        if files is not None:
            files.stop()
        if watch is not None:
            watch.stop()
        stop_probe()


def _configure_logs(settings: Settings) -> None:
    handler = logs.configure(settings.log, service="evaluator", quiet=(*logs.NOISY, FAUST_SERVICES))
    # Below errors aiokafka has nothing that an operator could use.
    logging.getLogger("aiokafka").setLevel(logging.ERROR)
    handler.addFilter(KafkaTrouble(SystemClock()))


def _make_data_dir(settings: Settings) -> None:
    try:
        Path(settings.evaluator.data_dir).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            "evaluator.data_dir", f"cannot make {error.filename}: {error.strerror}"
        ) from None


def _work(evaluator: Evaluator, stop: threading.Event) -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    Worker(evaluator.app, loop, stop).execute_from_commandline()


if __name__ == "__main__":
    main()
