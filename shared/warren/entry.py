"""What the scripts `warren-<service>` run, and which version it is."""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

DISTRIBUTION = "warren-kafka"


def own_version() -> str:
    """Of what is installed: all of Warren has one."""
    return version(DISTRIBUTION)


def main() -> None:
    """Run the service that the script, or what it links to, is named for.

    Exit code 2 where its extra is not installed.
    """
    script = Path(sys.argv[0]).resolve().stem
    package = script.replace("-", "_")
    try:
        module = import_module(f"{package}.__main__")
    except ModuleNotFoundError as error:
        extra = script.removeprefix("warren-")
        print(
            f"{script}: needs {error.name}, which is not installed: "
            f"pip install '{DISTRIBUTION}[{extra}]'",
            file=sys.stderr,
        )
        sys.exit(2)
    module.main()
