"""Files: for their owner alone, changed since, or not to be read."""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from tomllib import TOMLDecodeError

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


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Of one file at one moment; all 0 while there is none."""

    inode: int = 0
    modified_ns: int = 0
    size: int = 0

    @classmethod
    def of(cls, file: Path) -> FileVersion:
        """Look at the file as it is now."""
        try:
            found = file.stat()
        except OSError:
            return cls()
        return cls(found.st_ino, found.st_mtime_ns, found.st_size)


def why_unread(error: OSError | ValueError) -> str:
    """`error`: of opening the file, of its text, or of its TOML."""
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    if isinstance(error, TOMLDecodeError):
        return f"no TOML: {error}"
    return getattr(error, "strerror", None) or str(error)
