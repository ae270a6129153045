"""What all services share: their command line, and how they are watched while they run."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from warren import probe
from warren.errors import SettingsError
from warren.settings import Settings


def command(name: str, description: str | None, run: Callable[[Path | None], None]) -> None:
    """Run the service `warren-<name>` with the file that its command line names.

    Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong.
    """
    parser = argparse.ArgumentParser(prog=f"warren-{name}", description=description)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default $WARREN_CONFIG, then ./warren.toml"
    )
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
