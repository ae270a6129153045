"""The name of a Warren that is at home on a cluster where others may be, too."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from warren.installation import DEFAULT_NAME, NAME_PATTERN
from warren.private_files import write_private

FILE_NAME = "instance"


def instance_name(state_dir: Path) -> str:
    """Drawn at the first start, `warren-3fa9c1`, and kept in the state directory."""
    file = state_dir / FILE_NAME
    if file.exists() and re.fullmatch(NAME_PATTERN, kept := file.read_text().strip()):
        return kept
    drawn = f"{DEFAULT_NAME}-{secrets.token_hex(3)}"
    write_private(file, f"{drawn}\n")
    return drawn
