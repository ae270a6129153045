"""`python -m warren.reference [--check] [DIRECTORY]`: writes docs/, or says what is out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from warren.reference import asyncapi, metrics_page, schemas, settings_page, topics_page


class Generator(Protocol):
    """Makes pages: file contents by path below docs/."""

    def pages(self) -> dict[str, str]: ...


GENERATORS: Sequence[Generator] = (
    schemas,
    asyncapi,
    settings_page,
    metrics_page,
    topics_page,
)


def outdated(directory: Path, generators: Sequence[Generator] = GENERATORS) -> dict[Path, str]:
    """New contents of the files that differ from what the code says."""
    wanted = {directory / name: text for page in generators for name, text in page.pages().items()}
    return {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text() != text
    }


def main(generators: Sequence[Generator] = GENERATORS, directory: Path = Path("docs")) -> int:
    """Who has pages of their own calls it with their generators, and where they belong."""
    parser = argparse.ArgumentParser(
        prog="python -m warren.reference",
        description=f"Writes {directory}/ from the code, or says what is out of date.",
    )
    parser.add_argument("directory", nargs="?", type=Path, default=directory)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if outdated")
    options = parser.parse_args()
    files = outdated(options.directory, generators)
    for path, text in files.items():
        print(f"{'outdated' if options.check else 'written'}: {path}")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if options.check and files:
        print("run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
