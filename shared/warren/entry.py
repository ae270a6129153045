"""What the scripts `warren-<service>` run, and which version it is."""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path


def own_version() -> str:
    """Of what is installed: all of Warren has one."""
    return version("warren-kafka")


def main() -> None:
    """Run the service that the script, or what it links to, is named for.

    Exit code 2 where its extra is not installed.
    """
    script = Path(sys.argv[0]).resolve().stem
    try:
        import_module(f"{script.replace('-', '_')}.__main__").main()
    except ModuleNotFoundError as error:
        print(
            f"{script}: needs {error.name}, which is not installed: "
            f"pip install 'warren-kafka[{script.removeprefix('warren-')}]'",
            file=sys.stderr,
        )
        sys.exit(2)
