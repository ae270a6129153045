"""Errors of the archiver. Each text is one line that says what to do."""

from __future__ import annotations

from warren.errors import WarrenError


class ArchiverError(WarrenError):
    """The archiver cannot do its work."""


class SparkUnavailable(ArchiverError):
    """No Spark session could be had.

    Operator: is Java 17 or newer there, and are the jars those of the lock?
    """


class ArchiveFailed(ArchiverError):
    """Events could not be archived; the text gives Spark's cause.

    Operator: what was archived before stays; run it again once the cause is gone.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"events could not be archived: {cause}")
        self.cause = cause


class NothingArchived(ArchiverError):
    """There is no table, or no row in it, to compute from.

    Operator: does the archiver run, and with the same archiver.path?
    """


def spark_cause(problem: Exception) -> str:
    """The innermost cause in a Spark exception's text, on one line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    text = causes[-1].removeprefix("Caused by:").strip() if causes else " ".join(lines[:2])
    return text or type(problem).__name__
