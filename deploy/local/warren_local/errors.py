"""Errors of the embedded runtime. Each text is one line that says what to do."""

from pathlib import Path

from warren.errors import WarrenError


class LocalError(WarrenError):
    """The embedded runtime cannot do its work."""


class StartRefused(LocalError):
    """Nothing was started: something has to be put right first."""


class Stopped(LocalError):
    """Told to stop before the work was done. Operator: nothing to do."""


class JavaMissing(StartRefused):
    """No Java, or one that is too old.

    Operator: install Java 17 or newer, or point JAVA_HOME at one.
    """

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Java 17 or newer is needed ({found}): install it (for example "
            "`apt install openjdk-17-jre-headless` or `brew install openjdk`) or set JAVA_HOME"
        )


class JarMismatch(StartRefused):
    """A jar is not the one that its lock pins.

    Operator: do not use it; delete the directory to download again, or ask who changed the mirror.
    """


class JarsUnavailable(StartRefused):
    """The jars are not there and cannot be had.

    Operator: check the network, or set what the text names.
    """


class ServerFailed(LocalError):
    """An embedded server did not start or died; the text names its log file."""

    def __init__(self, server: str, problem: str, log: Path) -> None:
        super().__init__(f"{server} {problem}; its log: {log}")
