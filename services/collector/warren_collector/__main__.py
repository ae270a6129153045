"""`warren-collector`: publishes the positions of every consumer group."""

import logging
from pathlib import Path
from socket import gethostname

from warren import garbage, log
from warren.clock import SystemClock
from warren.installation import COLLECTOR
from warren.metrics import collector as metrics
from warren.service import command, probed, stop_by_signal
from warren.settings_file import SettingsWatch, load_settings
from warren.standstill import StandstillWatch

from warren_collector.service import Collector


def main() -> None:
    """Run the service until SIGTERM or SIGINT."""
    command("collector", __doc__, run)


def run(config: Path | None) -> None:
    """Collect until a signal comes. Raises SettingsError."""
    settings = load_settings(config)
    log.configure(settings.log, service="collector")
    garbage.collect_seldom()
    # What goes wrong on its connections is told once, with the cluster's name, by ourselves.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    clock = SystemClock()
    named = settings.of_service(COLLECTOR, gethostname())
    collector = Collector(named, clock, SettingsWatch(config, settings))
    watch = StandstillWatch(settings.standstill, collector.works, metrics.COLLECTOR_STALLED, clock)
    stop_by_signal(collector.stop)
    with (
        probed(
            "collector",
            settings,
            metrics.COLLECTOR,
            lambda: watch.reason or collector.readiness(),
        ),
        watch,
    ):
        collector.run()


if __name__ == "__main__":
    main()
