"""What a provider says of somebody: whether an ID token says what it says (OpenID Connect Core,
section 3.1.3.7), their name and their role; and why nobody was logged in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry
from warren.settings import OidcSettings
from warren.settings.api import Role
from warren.settings.oidc import ANYBODY
from warren.words import shortened, visible


class LoginFailed(Exception):
    """The text is for whoever wanted to log in; `detail` for the log."""

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.detail = detail


class ProviderAway(LoginFailed):
    """The identity provider does not answer, or nothing that can be used."""

    def __init__(self, detail: str) -> None:
        super().__init__("The identity provider does not answer as it should.", detail)


class UnknownKey(Exception):
    """An ID token is signed with a key that was not published when keys were last read."""


Claims = Mapping[str, Any]
NAMES = ("preferred_username", "email", "name", "sub")
LONGEST_NAME = 100  # characters, as records have it
LONGEST_SUBJECT = 255  # OpenID Connect Core, section 2


def claim_at(claims: Claims, path: str) -> object:
    """The claim of that name, or one in another: `realm_access.roles`. Names may have dots."""
    if path in claims:
        return claims[path]
    at = path.find(".")
    while at >= 0:
        inner = claims.get(path[:at])
        if isinstance(inner, Mapping) and (found := claim_at(inner, path[at + 1 :])) is not None:
            return found
        at = path.find(".", at + 1)
    return None


def role_values(claims: Claims, path: str) -> frozenset[str]:
    """Texts of the claim: one, or those of a list. An address counts only where it is verified:
    at some providers people may write any into their profile.
    """
    if path == "email" and claims.get("email_verified") is not True:
        return frozenset()
    value = claim_at(claims, path)
    found = value if isinstance(value, list) else [value]
    return frozenset(text for text in found if isinstance(text, str))


def role_of(claims: Claims, settings: OidcSettings) -> Role | None:
    """What somebody may; None for nothing."""
    values = role_values(claims, settings.roles_claim)
    if not values.isdisjoint(settings.admins):
        return "admin"
    if ANYBODY in settings.viewers or not values.isdisjoint(settings.viewers):
        return "read"
    return None


def name_of(claims: Claims) -> str:
    """As it may be shown and written down."""
    for name in NAMES:
        said = claim_at(claims, name)
        if isinstance(said, str) and said.strip():
            return cleaned(said, LONGEST_NAME)
    return "?"


def cleaned(text: str, longest: int) -> str:
    return shortened(visible(text[: longest + 1].strip()), longest)


# Of public keys only: `none` is no signature, and who knows a public key could make an HS256.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
KEY_TYPES = ("RSA", "EC", "OKP")
LEEWAY = 60  # seconds that clocks may differ


def public_keys(published: dict[str, Any]) -> KeySet:
    """Keys that sign, of a JWKS; what is not understood is passed over."""
    keys = []
    entries = published.get("keys")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or entry.get("kty") not in KEY_TYPES:
            continue
        if entry.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(entry))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return KeySet(keys)


class Expected(NamedTuple):
    """What a token has to be; `access_token` is the one that came with it, `now` Unix seconds."""

    issuer: str
    client_id: str
    nonce: str
    access_token: str | None
    now: int


def verified_claims(token: str, keys: KeySet, expected: Expected) -> dict[str, Any]:
    """Raises UnknownKey, LoginFailed."""
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        decoded = jwt.decode(token, keys, registry=registry)
        options = {
            "iss": {"essential": True, "value": expected.issuer},
            "aud": {"essential": True, "value": expected.client_id},
        }
        params = expected._asdict()
        claims = CodeIDToken(decoded.claims, decoded.header, options, params)
        claims.validate(now=expected.now, leeway=LEEWAY)
    except InvalidKeyIdError as error:
        raise UnknownKey(str(error)) from None
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _refused(f"{type(error).__name__}: {error}") from None
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise _refused("sub is empty or too long")
    return dict(claims)


def _refused(detail: str) -> LoginFailed:
    return LoginFailed("What the identity provider says cannot be believed.", detail)
