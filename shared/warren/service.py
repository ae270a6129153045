"""What all services share: their command line, how they are watched, and how they end."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry

from warren import probe
from warren.entry import own_version
from warren.errors import SettingsError
from warren.settings import Settings

log = structlog.get_logger(__name__)

STOP_SECONDS = 9.0
"""From the signal to the end of the process: Docker kills after 10, Kubernetes after 30. What is
not done by then is in topics, and the next process does it.
"""


def command(name: str, description: str | None, run: Callable[[Path | None], None]) -> None:
    """Run the service `warren-<name>` with the file that its command line names.

    Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong.
    """
    parser = argparse.ArgumentParser(prog=f"warren-{name}", description=description)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default $WARREN_CONFIG, then ./warren.toml"
    )
    parser.add_argument("--version", action="version", version=f"warren-{name} {own_version()}")
    try:
        run(parser.parse_args().config)
    except SettingsError as error:
        print(f"warren-{name}: {error}", file=sys.stderr)
        sys.exit(2)


@contextmanager
def probed(
    name: str, settings: Settings, registry: CollectorRegistry, ready: probe.Ready
) -> Iterator[None]:
    """Serve metrics and readiness meanwhile, at `<name>.metrics_port`. Raises SettingsError."""
    stop = probe.serve(
        getattr(settings, name).metrics_port,
        registry,
        ready,
        setting=f"{name}.metrics_port",
        host=settings.probe.host,
    )
    try:
        yield
    finally:
        stop()


def stop_by_signal(stop: Callable[[], object], seconds: float = STOP_SECONDS) -> None:
    """Call `stop` on SIGTERM and SIGINT, and end the process where that has not done so in time.

    Its exit code is 0 either way. Call it in the main thread.
    """

    def signalled(*_: object) -> None:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        stop()
        deadline = threading.Timer(seconds, _end_now)
        deadline.daemon = True
        deadline.start()

    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        signal.signal(number, signalled)


def _end_now() -> None:
    log.warning("not stopped in time, ended: the next process does what is left")
    logging.shutdown()
    os._exit(0)
