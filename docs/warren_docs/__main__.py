"""`python -m warren_docs [--check]`: writes what is generated of docs/."""

import argparse
import sys
from pathlib import Path

from warren_docs import (
    causes_page,
    channels_page,
    metrics_page,
    rules_page,
    settings_page,
    tables_page,
    topics_page,
)

ROOT = Path(__file__).parents[2]
# Each gives the contents of its files in docs/, by name.
GENERATORS = (
    settings_page.pages,
    channels_page.pages,
    causes_page.pages,
    metrics_page.pages,
    topics_page.pages,
    tables_page.pages,
    rules_page.pages,
)


def outdated(root: Path) -> dict[Path, str]:
    """Give the new contents of the files below `root` that differ from what the code says."""
    wanted = {root / "docs" / name: text for pages in GENERATORS for name, text in pages().items()}
    return {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text() != text
    }


def main() -> int:
    """Write the files, or exit 1 and name those that are out of date."""
    parser = argparse.ArgumentParser(prog="python -m warren_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if outdated")
    check = parser.parse_args().check
    files = outdated(ROOT)
    for path, text in files.items():
        print(f"{'outdated' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if check and files:
        print("run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
