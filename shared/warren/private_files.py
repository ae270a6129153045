"""Files and folders that only their owner may look into, whatever umask and whatever was there."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def write_private(path: Path, text: str) -> None:
    """Replace a file by `text` in one step: a reader sees the old or the new one, whole.

    A link is followed. Raises OSError, also where `path` is there and no regular file.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise OSError(0, "is no regular file", str(path))
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    draft = Path(name)
    try:
        os.fchmod(descriptor, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def create_private(path: Path, text: str) -> None:
    """Write a file that is not there yet. Raises FileExistsError, and other OSErrors."""
    with os.fdopen(_opened(path, os.O_EXCL), "w", encoding="utf-8") as file:
        file.write(text)


def append_private(path: Path) -> int:
    """Open a file, of which there may be some, to write at its end: a descriptor."""
    return _opened(path, os.O_APPEND)


def make_private_folder(path: Path) -> None:
    """Make the folder, or close the one that is there to all others.

    Raises OSError, also where it belongs to somebody else, who could open it again.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    found = path.stat()
    if found.st_mode & stat.S_ISVTX:
        raise PermissionError(0, "is for everybody's files", str(path))
    if stat.S_IMODE(found.st_mode) != FOLDER_MODE:
        path.chmod(FOLDER_MODE)


def _opened(path: Path, flags: int) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flags, FILE_MODE)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):  # /dev/null stays everybody's
        os.fchmod(descriptor, FILE_MODE)
    return descriptor
