"""What a provider says of somebody: their name and their role; and why nobody was logged in."""

from collections.abc import Mapping
from typing import Any

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
