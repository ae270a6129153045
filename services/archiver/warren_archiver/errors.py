"""Errors of the archiver. Each text is one line that says what to do."""

import re
from collections.abc import Sequence

from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]  # no py.typed
from warren.errors import WarrenError

_ANOTHER_WRITES = ("DELTA_CONCURRENT_TRANSACTION", "CONCURRENT_STREAM_LOG_UPDATE")
JVM_ENDED = (Py4JNetworkError, ConnectionError)
_TRACE = "Traceback (most recent call last):"
_FILE = re.compile(r"while reading file (\S+?)\.(?:\s|$)")


class ArchiverError(WarrenError):
    """The archiver cannot do its work."""


class SparkUnavailable(ArchiverError):
    """No Spark session could be had.

    Operator: is Java 17 or newer there, and are the jars those of the lock?
    """


class ArchiveFailed(ArchiverError):
    """Spark could not do what was asked of it; the text gives its cause.

    Operator: what was archived before stays; run it again once the cause is gone.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"the archive could not be read or written: {cause}")
        self.cause = cause


def archive_failed(problem: Exception, path: str) -> ArchiveFailed:
    """Of what Spark raised. `path`: the lake's, as it was set."""
    if any(code in str(problem) for code in _ANOTHER_WRITES):
        return AnotherWrites(path)
    if isinstance(problem, JVM_ENDED):
        return ArchiveFailed(
            "Spark's JVM has ended amid it: somebody killed it, or it needs more memory than the "
            "machine has, or than archiver.memory"
        )
    return ArchiveFailed(f"{spark_cause(problem)} (archiver.path {path})")


class AnotherWrites(ArchiveFailed):
    """Somebody else has written the batch that was to be written.

    Operator: stop one of both archivers. Nothing is lost, and nothing is there twice.
    """

    def __init__(self, path: str) -> None:
        super().__init__(f"another archiver writes to {path} (archiver.path): stop one of them")


class LakeGone(ArchiverError):
    """Tables were deleted amid a pass.

    Operator: who deleted them? The next pass creates them again.
    """

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was deleted amid a pass (archiver.path): the next pass archives again what "
            "the topics still have"
        )


class NothingArchived(ArchiverError):
    """There is no table, or no row in it, to compute from.

    Operator: does the archiver run, and with the same archiver.path?
    """


def spark_cause(problem: Exception) -> str:
    """The innermost cause in a Spark exception's text, on one line: what Python raised in a task,
    else Java's last one, with the file that could not be read."""
    file = _FILE.search(str(problem))
    said = _said(problem)
    return said if file is None or file[1] in said else f"{said} (reading {file[1]})"


def _said(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    if (of_python := _python_cause(lines)) is not None:
        return of_python
    lines = [line.strip() for line in lines]
    causes = [line for line in lines if line.startswith("Caused by:")]
    if causes:
        return causes[-1].removeprefix("Caused by:").strip()
    # Java's own text follows py4j's, which only says what was called.
    if len(lines) > 1 and lines[1].startswith(": "):
        return lines[1].removeprefix(": ")
    said = [line for line in lines[:2] if not line.startswith(("at ", "=== "))]
    text = " ".join(said) or type(problem).__name__
    innermost = _innermost(problem)
    return text if not innermost or innermost in text else f"{text}: {innermost}"


def _innermost(problem: Exception) -> str:
    """What the last of the causes says that Spark's Python keeps beside the text; "" for none."""
    cause: Exception | None = getattr(problem, "_cause", None)
    while (further := getattr(cause, "_cause", None)) is not None:
        cause = further
    lines = str(cause).strip().splitlines() if cause is not None else []
    return lines[0] if lines else ""


def _python_cause(lines: Sequence[str]) -> str | None:
    """What follows the frames of a worker's stack, which are indented."""
    traces = [at for at, line in enumerate(lines) if line.endswith(_TRACE)]
    after = lines[traces[-1] + 1 :] if traces else []
    return next((line for line in after if not line[:1].isspace()), None)
