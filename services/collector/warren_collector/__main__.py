"""`warren-collector`: publishes the positions of every consumer group."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from pathlib import Path

from warren import log, probe
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.metrics import collector as metrics
from warren.settings_file import load_settings
from warren.settings_watch import SettingsWatch

from warren_collector.service import Collector


def main() -> None:
    """Exit 0 when stopped by SIGTERM or SIGINT, 2 when a setting is unusable."""
    parser = argparse.ArgumentParser(prog="warren-collector", description=__doc__)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default $WARREN_CONFIG, then ./warren.toml"
    )
    arguments = parser.parse_args()
    try:
        _run(arguments.config)
    except SettingsError as error:
        print(f"warren-collector: {error}", file=sys.stderr)
        sys.exit(2)


def _run(config: Path | None) -> None:
    settings = load_settings(config)
    log.configure(settings.log, service="collector")
    # What goes wrong on its connections is told once, with the cluster's name, by ourselves.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    collector = Collector(settings, SystemClock(), SettingsWatch(config, settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: collector.stop())
    stop_probe = probe.serve(
        settings.collector.metrics_port,
        metrics.COLLECTOR,
        collector.readiness,
        setting="collector.metrics_port",
        host=settings.probe.host,
    )
    try:
        collector.run()
    finally:
        stop_probe()


if __name__ == "__main__":
    main()
