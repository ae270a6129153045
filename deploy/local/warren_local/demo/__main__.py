"""`python -m warren_local.demo`: the demo as a service of `warren up`."""

import argparse
import signal
import sys
import threading
from pathlib import Path

from warren.errors import SettingsError, WarrenError
from warren.log import configure
from warren.settings_file import load_settings

from warren_local.demo.workload import Gate, run_demo


def main() -> None:
    """Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong."""
    parser = argparse.ArgumentParser(prog="python -m warren_local.demo", description=__doc__)
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument("--cluster", help="a cluster of warren.toml; default demo")
    parser.add_argument("--bootstrap", help="host:port[,host:port]")
    parser.add_argument(
        "--after", metavar="URL", help="consume only once this answers 200 (30 s at most)"
    )
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        settings = load_settings(options.config)
        configure(settings.log, service="demo")
        run_demo(
            settings,
            cluster=options.cluster,
            bootstrap=options.bootstrap,
            stop=stop,
            gate=Gate(options.after) if options.after else None,
        )
    except WarrenError as problem:
        print(f"warren demo: {problem}", file=sys.stderr)
        sys.exit(2 if isinstance(problem, SettingsError) else 1)


if __name__ == "__main__":
    main()
