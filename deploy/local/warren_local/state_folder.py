"""The state directory, with settings that hold secrets, logs and mails: for its owner alone."""

import fcntl
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warren.files import make_private_folder, write_private
from warren.installation import DEFAULT_NAME, NAME_PATTERN

from warren_local.server import StartRefused

LOGS = "logs"
_INSTANCE = "instance"


def make_state_folder(path: Path) -> None:
    """Make it with mode 0700, or tighten the one that is there, and its logs. Raises
    StartRefused.
    """
    try:
        make_private_folder(path)
        make_private_folder(path / LOGS)
    except OSError as error:
        raise StartRefused(
            f"{path} cannot be used ({error.strerror}): choose another directory with --state-dir "
            "or WARREN_LOCAL__STATE_DIR"
        ) from None


class Held(Exception):
    """Another process holds the lock."""


@contextmanager
def guard(file: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock, which the system releases when its process ends, however it ends; when another
    process has it, wait or raise Held.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as held:
            raise Held(str(file)) from held
        yield


def instance_name(state_dir: Path) -> str:
    """The name of a Warren that is at home where others may be, too: drawn at the first start,
    `warren-3fa9c1`, and kept.
    """
    file = state_dir / _INSTANCE
    if file.exists() and re.fullmatch(NAME_PATTERN, kept := file.read_text().strip()):
        return kept
    drawn = f"{DEFAULT_NAME}-{secrets.token_hex(3)}"
    write_private(file, f"{drawn}\n")
    return drawn
