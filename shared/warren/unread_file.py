"""Why a file that a person named could not be read, without the words of Python."""

from __future__ import annotations

from tomllib import TOMLDecodeError


def why_unread(error: OSError | ValueError) -> str:
    """`error`: of opening the file, of its text, or of its TOML."""
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    if isinstance(error, TOMLDecodeError):
        return f"no TOML: {error}"
    return getattr(error, "strerror", None) or str(error)
