"""`warren-collector`: publishes the positions of every consumer group."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from pathlib import Path
from socket import gethostname

from warren import garbage, log, probe
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.installation import COLLECTOR
from warren.metrics import collector as metrics
from warren.settings_file import load_settings
from warren.settings_watch import SettingsWatch
from warren.standstill_watch import StandstillWatch

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
    garbage.collect_seldom()
    # What goes wrong on its connections is told once, with the cluster's name, by ourselves.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    clock = SystemClock()
    named = settings.of_service(COLLECTOR, gethostname())
    collector = Collector(named, clock, SettingsWatch(config, settings))
    watch = StandstillWatch(settings.standstill, collector.works, metrics.COLLECTOR_STALLED, clock)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: collector.stop())
    stop_probe = probe.serve(
        settings.collector.metrics_port,
        metrics.COLLECTOR,
        lambda: watch.reason or collector.readiness(),
        setting="collector.metrics_port",
        host=settings.probe.host,
    )
    watch.start()
    try:
        collector.run()
    finally:
        watch.stop()
        stop_probe()


if __name__ == "__main__":
    main()
