"""`warren-archiver` whose passes make no table of silver, and none of gold: those take a minute."""

import sys
from pathlib import Path

from warren_archiver.__main__ import main
from warren_archiver.passes import parent


def _command(config: Path | None) -> list[str]:
    return [sys.executable, __file__, "--once", "--config", str(config)]


if __name__ == "__main__":
    if "--once" in sys.argv:
        import pytest
        from support.few_tables import only

        only(pytest.MonkeyPatch())
    parent.pass_command = _command
    main()
