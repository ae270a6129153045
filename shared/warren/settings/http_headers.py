"""Headers that settings add to what Warren sends over HTTP."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, SecretStr

FRAMING = frozenset(("content-length", "transfer-encoding", "connection", "expect", "upgrade"))
"""Headers that no setting may have another mind of."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, 5.6.2


def _can_be_sent(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in headers.items():
        plain = value.get_secret_value()
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no header name")
        if name.lower() in FRAMING:
            raise ValueError(f"{name} is Warren's own: it says where a message ends")
        if not (plain.isascii() and plain.isprintable()):
            raise ValueError(f"the value of {name} is not printable ASCII")
    return headers


HttpHeaders = Annotated[dict[str, SecretStr], AfterValidator(_can_be_sent)]
"""Values by name."""


def plain_headers(headers: Mapping[str, SecretStr]) -> dict[str, str]:
    """As they are sent."""
    return {name: value.get_secret_value() for name, value in headers.items()}
