"""The state directory, with settings that hold secrets, logs and mails: for its owner alone."""

from __future__ import annotations

from pathlib import Path

from warren.private_files import make_private_folder

from warren_local.errors import StateFolderUnusable

LOGS = "logs"


def make_state_folder(path: Path) -> None:
    """Make it with mode 0700, or tighten the one that is there, and its logs. Raises
    StateFolderUnusable.
    """
    try:
        make_private_folder(path)
        make_private_folder(path / LOGS)
    except OSError as error:
        raise StateFolderUnusable(path, f"cannot be used ({error.strerror})") from None
