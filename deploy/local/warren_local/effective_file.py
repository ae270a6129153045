"""warren.toml as in force for the services of a run: one file says what they run with.

It may hold secrets (from `…_file` settings and the environment), so only its owner may read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import Secret, SecretStr
from warren.private_files import write_private
from warren.settings import Settings
from warren.settings.file_secret import FileSecret

FILE_NAME = "warren.toml"
_HEADER = "# Written by `warren up` at each start, for its services. Changes here are lost.\n"


def write_effective(settings: Settings, state_dir: Path) -> Path:
    """Write the file with mode 0600 and return its path."""
    path = state_dir / FILE_NAME
    tables = settings.model_dump(exclude_unset=True, by_alias=True)
    write_private(path, _HEADER + to_toml(tables))
    return path


def to_toml(tables: Mapping[str, Any]) -> str:
    """TOML of nested tables, secrets in the open."""
    return tomli_w.dumps(_revealed(tables))


def _entry(name: str, value: Any) -> tuple[str, Any]:
    """A secret that services read again from its file stays in that file."""
    if isinstance(value, Secret):
        value = value.get_secret_value()  # what a channel's table has, whatever it is
    if isinstance(value, FileSecret):
        return f"{name}_file", str(value.file.absolute())
    return name, _revealed(value)


def _revealed(value: Any) -> Any:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Mapping():
            return dict(_entry(name, item) for name, item in value.items())
        case list() | tuple():
            return [_revealed(item) for item in value]
    return value
