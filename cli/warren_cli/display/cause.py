"""Causes as the API tells them, in a line."""

from __future__ import annotations

from typing import Any


def findings(cause: dict[str, Any]) -> list[dict[str, Any]]:
    """The cause, then its consequences."""
    return [cause, *(cause.get("also") or ())]


def said_of(cause: dict[str, Any]) -> str:
    """All sentences, the cause's first."""
    return "; also: ".join(str(each["sentence"]) for each in findings(cause))
