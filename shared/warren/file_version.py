"""Files that change while a service runs: what tells one state of a file from another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
