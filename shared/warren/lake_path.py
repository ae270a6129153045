"""Where a lake is."""

from pathlib import Path
from urllib.parse import unquote, urlsplit


def local_path(path: str) -> Path | None:
    """The folder of a lake on a disk of this machine; None for a URL of something else."""
    if path.startswith("file:"):
        return Path(unquote(urlsplit(path).path)).resolve()
    return None if "://" in path else Path(path).resolve()
