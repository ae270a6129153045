"""`warren-notifier`: delivers status changes to people and machines."""

from pathlib import Path
from socket import gethostname

from warren.log import configure
from warren.redaction import Redaction
from warren.service import command
from warren.settings import Settings
from warren.settings.secrets import secret_values
from warren.settings_file import load_settings

from warren_notifier.service import run


def main() -> None:
    """Run the service until SIGTERM or SIGINT."""
    command("notifier", __doc__, _run)


def _run(config: Path | None) -> None:
    def load() -> Settings:
        return load_settings(config).of_service("notifier", gethostname())

    settings = load()
    redaction = Redaction(secret_values(settings))
    configure(settings.log, service="notifier", redaction=redaction)
    run(settings, load, redaction)


if __name__ == "__main__":
    main()
