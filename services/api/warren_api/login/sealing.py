"""Cookies that only we can read and write: Fernet (AES-CBC and HMAC-SHA256), keys from secrets."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LONGEST = 4096  # characters; browsers keep no longer cookie


class Seal:
    """`secrets`: the first seals, all open. What was sealed for another purpose stays closed."""

    def __init__(self, secrets: Sequence[str], purpose: str) -> None:
        self._keys = MultiFernet([_key(secret, purpose) for secret in secrets])

    def close(self, content: dict[str, Any], now: int) -> str:
        """`now`: Unix seconds."""
        text = json.dumps({**content, "at": now}, ensure_ascii=False, separators=(",", ":"))
        return self._keys.encrypt_at_time(text.encode(), now).decode()

    def open(self, sealed: str) -> dict[str, Any] | None:
        """None for what is not ours, whole and unchanged."""
        if len(sealed) > LONGEST:
            return None
        try:
            content: dict[str, Any] = json.loads(self._keys.decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            return None
        return content


def _key(secret: str, purpose: str) -> Fernet:
    derived = HKDF(SHA256(), 32, salt=None, info=b"warren " + purpose.encode())
    return Fernet(urlsafe_b64encode(derived.derive(secret.encode())))
