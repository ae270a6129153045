"""Whether an ID token says what it says: OpenID Connect Core, section 3.1.3.7."""

from __future__ import annotations

from typing import Any, NamedTuple

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

from warren_api.login.claims import LONGEST_SUBJECT
from warren_api.login.errors import LoginFailed, UnknownKey

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
