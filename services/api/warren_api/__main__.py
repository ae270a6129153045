"""`warren-api`: serves judged consumer groups over HTTP."""

from pathlib import Path
from socket import gethostname

from warren.log import NOISY, configure
from warren.service import command
from warren.settings_file import load_settings

from warren_api.server import run


def main() -> None:
    """Run the service until SIGTERM or SIGINT."""
    command("api", __doc__, _run)


def _run(config: Path | None) -> None:
    settings = load_settings(config).of_service("api", gethostname())
    configure(settings.log, service="api", quiet=(*NOISY, "uvicorn"))
    run(settings)


if __name__ == "__main__":
    main()
