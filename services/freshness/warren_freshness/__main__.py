"""`warren-freshness`: measures how late consumer groups are, in seconds."""

import logging
from pathlib import Path
from socket import gethostname

from warren.log import configure
from warren.service import command
from warren.settings_file import load_settings

from warren_freshness.service import run


def main() -> None:
    """Run the service until SIGTERM or SIGINT."""
    command("freshness", __doc__, _run)


def _run(config: Path | None) -> None:
    settings = load_settings(config).of_service("freshness", gethostname())
    configure(settings.log, service="freshness")
    if settings.log.level != "debug":
        # Its troubles reach the log once, with cluster and setting; its own lines repeat them.
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    run(settings)


if __name__ == "__main__":
    main()
