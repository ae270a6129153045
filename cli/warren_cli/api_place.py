"""Where the API and the settings are that nobody named: those of the `warren up` in this directory,
else where settings are looked for.

Settings are imported when there are some: that takes longer than the question itself.
"""

import json
import os
from pathlib import Path

from warren.api_address import api_address

RUN_FILE = "run.json"  # that `warren up` writes to its state directory
STATE_DIR = ".warren"  # where that is by default
SETTINGS_FILE = "warren.toml"
_PREFIX = "WARREN_"
_CONFIG = "WARREN_CONFIG"
_NOT_SETTINGS = (_CONFIG, "WARREN_TOKEN", "WARREN_TEST_")


def api_in_force(config: Path | None) -> str:
    """A file that somebody names decides alone. Raises SettingsError for wrong settings."""
    running = None if _is_named(config) else running_api(_state_dir())
    if running or (config is None and not _has_settings()):
        return running or api_address()
    from warren.settings_file import load_settings

    return load_settings(config).api.address


def settings_file(config: Path | None) -> Path | None:
    """The file that `load_settings` is to read: of the `warren up` that runs in this directory,
    unless somebody names one. Raises SettingsError for wrong settings.
    """
    if _is_named(config):
        return config
    folder = _state_dir()
    return folder / SETTINGS_FILE if running_api(folder) else None


def _is_named(config: Path | None) -> bool:
    return config is not None or bool(os.environ.get(_CONFIG))


def _state_dir() -> Path:
    if not _has_settings():
        return Path(STATE_DIR)
    from warren.settings_file import load_settings

    return Path(load_settings().local.state_dir)


def running_api(state_dir: Path) -> str | None:
    """Where the API of the `warren up` is that runs with this state directory, if one does."""
    try:
        run = json.loads((state_dir / RUN_FILE).read_text())
        os.kill(int(run["supervisor"]), 0)  # asks only whether it is there and ours
        return str(run["api"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _has_settings() -> bool:
    """Whether there is a settings file, or a variable that is one or claims to be."""
    if os.environ.get(_CONFIG) or Path(SETTINGS_FILE).exists():
        return True
    return any(
        name.startswith(_PREFIX) and not name.startswith(_NOT_SETTINGS) for name in os.environ
    )
