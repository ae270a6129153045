"""The log level of this process, by the names that Burrow's API uses for it."""

from __future__ import annotations

import json
import logging

from warren.errors import WarrenError

_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
}
_NAMES = {level: name for name, level in _LEVELS.items()}  # the last name of a level


class Undecodable(WarrenError):
    """A request's body is not what it should be. Operator: send {"level": "debug"}."""


class UnknownLevel(WarrenError):
    """There is no such level. Operator: debug, info, warn, error or fatal."""


def current() -> str:
    """debug, info, warn, error or fatal."""
    return _NAMES.get(logging.getLogger().level, "info")


def change(name: str) -> None:
    """Raises UnknownLevel."""
    try:
        logging.getLogger().setLevel(_LEVELS[name.lower()])
    except KeyError:
        raise UnknownLevel(f"no log level {name!r}") from None


def requested(body: bytes) -> str:
    """The level that a JSON object names, empty when it names none. Raises Undecodable.

    As Go reads it: the first value of the body counts, and the case of the key does not.
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(body.decode().lstrip())
    except (ValueError, RecursionError):
        raise Undecodable("the body is no JSON") from None
    if not isinstance(value, dict | None):
        raise Undecodable("the body is no object")
    levels = [v for name, v in (value or {}).items() if name.lower() == "level" and v is not None]
    level = levels[-1] if levels else ""
    if not isinstance(level, str):
        raise Undecodable("level is no text")
    return level
