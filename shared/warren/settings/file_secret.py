"""Secrets that a setting names by their file: renewed there, they are read again."""

from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from warren.files import FileVersion


class FileSecret(SecretStr):
    """The text of a file, without the newline at its end, as it is when somebody asks.

    A file that cannot be read, or that is empty while it is written, leaves the secret as it was.
    """

    def __init__(self, file: Path) -> None:
        """Raises OSError or UnicodeDecodeError when the file cannot be read."""
        self.file = file
        self._version = FileVersion.of(file)
        super().__init__(_text(file))

    def get_secret_value(self) -> str:
        """Reveal the secret; read the file first where it has changed."""
        version = FileVersion.of(self.file)
        if version != self._version:
            with suppress(OSError, UnicodeDecodeError):
                if text := _text(self.file):
                    self._secret_value, self._version = text, version
        return self._secret_value


def _text(file: Path) -> str:
    return file.read_text().rstrip("\r\n")
