"""Tokens of the API's clients.

A token is 32 random bytes, so its plain SHA-256 tells nothing of it: there is no dictionary to try,
and a slow or salted hash, which passwords need, would only slow every request down.
"""

import hashlib
import secrets

PREFIX = "warren_"  # found by tools that look for secrets where they do not belong
SHORTEST = 32  # characters of a token that was not made here


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """What settings say instead of the token."""
    return f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"
