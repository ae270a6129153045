"""`[api.oidc]`: logging in to the pages at an identity provider (OpenID Connect)."""

from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from warren.section import MOST_SECONDS, Section

Text = Annotated[str, StringConstraints(min_length=1)]
ANYBODY = "*"
SHORTEST_SECRET = 32  # characters


class OidcSettings(Section):
    """Logging in to the pages at an identity provider (OpenID Connect); without it nobody does."""

    issuer: str = Field(
        description="The provider's issuer, exactly as its discovery document has it: "
        "https://keycloak.example/realms/ops. https, but on loopback"
    )
    client_id: Text = Field(description="What the provider knows Warren by")
    client_secret: SecretStr = Field(
        default=SecretStr(""), description="Of the client; empty for a public one (PKCE alone)"
    )
    client_auth: Literal["basic", "post"] = Field(
        default="basic",
        description="How the secret is shown: client_secret_basic or client_secret_post",
    )
    public_url: str = Field(
        description="Where people reach the pages: https://warren.example. To be registered at the "
        "provider: <public_url>/login/callback, and /logged-out for after a logout. https, but on "
        "loopback"
    )
    scopes: list[Text] = Field(
        default_factory=lambda: ["openid", "profile", "email"],
        description="What is asked for; openid has to be among them",
    )
    roles_claim: Text = Field(
        default="groups",
        description="The claim that says who may what, of the ID token or else of userinfo; one in "
        "another is realm_access.roles. email counts where it is verified",
    )
    viewers: list[Text] = Field(
        default_factory=list,
        description="Values of that claim with which one may read; * for everybody who can log in",
    )
    admins: list[Text] = Field(
        default_factory=list,
        description="Values with which one may also silence, acknowledge and change what else can "
        "be changed",
    )
    session: Annotated[float, Field(ge=60, le=MOST_SECONDS)] = Field(
        default=28_800.0,
        description="How long a login lasts, seconds. What the provider takes away is missing "
        "from the next login on",
    )
    session_secret: SecretStr = Field(
        default=SecretStr(""),
        description="What sessions are signed with, the same for all copies of the API, 32 "
        "characters or more. Empty: one is drawn at each start, so that a restart logs everybody "
        "out",
    )
    tls_ca: str = Field(
        default="",
        description="PEM file with the authorities that sign the provider's certificate; empty: "
        "the usual ones",
    )

    @property
    def is_https(self) -> bool:
        """Whether people reach the pages over https; if not, on loopback."""
        return self.public_url.startswith("https:")

    @field_validator("issuer")
    @classmethod
    def _issuer(cls, written: str) -> str:
        url = _url(written)
        if url.query or url.fragment:
            raise ValueError("an issuer has neither query nor fragment")
        if url.scheme != "https" and not _is_loopback(url):
            raise ValueError(
                "over http anybody on the way could say who is an admin: use https, with tls_ca "
                "where an authority of your own signs"
            )
        return written

    @field_validator("public_url")
    @classmethod
    def _public_url(cls, written: str) -> str:
        url = _url(written)
        if url.path not in ("", "/") or url.query or url.fragment:
            raise ValueError("scheme and host alone, as https://warren.example")
        if url.scheme != "https" and not _is_loopback(url):
            raise ValueError(
                "over http anybody on the way could take the session's cookie: use https, with "
                "api.tls_certificate or a proxy in front"
            )
        return f"{url.scheme}://{url.netloc}"

    @field_validator("scopes")
    @classmethod
    def _scopes(cls, scopes: list[str]) -> list[str]:
        if "openid" not in scopes:
            raise ValueError('"openid" is missing: without it the provider does not say who it is')
        return scopes

    @field_validator("admins")
    @classmethod
    def _admins(cls, values: list[str]) -> list[str]:
        if ANYBODY in values:
            raise ValueError("everybody an admin: name the values that admins have")
        return values

    @field_validator("session_secret")
    @classmethod
    def _long_enough(cls, secret: SecretStr) -> SecretStr:
        if 0 < len(secret.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"{SHORTEST_SECRET} characters or more: `openssl rand -base64 32`")
        return secret

    @model_validator(mode="after")
    def _for_somebody(self) -> Self:
        if not self.viewers and not self.admins:
            raise ValueError(
                f"nobody could log in: name values of the claim {self.roles_claim} in viewers or "
                'admins, or viewers = ["*"]'
            )
        return self


def _url(written: str) -> SplitResult:
    problem = f"{written!r} is no URL: https://host"
    try:
        url = urlsplit(written)
        host, _ = url.hostname, url.port
    except ValueError:
        raise ValueError(problem) from None
    if url.scheme not in ("http", "https") or not host or "@" in url.netloc:
        raise ValueError(problem)
    return url


def _is_loopback(url: SplitResult) -> bool:
    host = url.hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
