"""`[api]`: the HTTP server, and who may ask it what."""

import re
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from warren.api_address import DEFAULT_HOST, DEFAULT_PORT, api_address
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


Role = Literal["read", "admin"]
_ORIGIN = re.compile(r"https?://[^/\s*]+")


class ApiToken(Section):
    """A token that clients of the API send. `warren token` makes one."""

    name: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Whose it is; appears in the log when something is changed with it"
    )
    role: Role = Field(description="`read`: GET; `admin`: also POST and DELETE")
    hash: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] = Field(
        description="`sha256:` and the token's SHA-256 in hex, as `warren token` prints it"
    )


LONGEST_SEARCH = 300
"""Characters of a search of groups."""


class SavedFilter(Section):
    """A search of groups that the overview links."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=60)] = Field(
        description="What the link says"
    )
    q: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_SEARCH)] = Field(
        description="What is searched for, as the search field takes it: `owner:payments late:>5m`"
    )


class ApiSettings(Section):
    """The HTTP server."""

    host: str = Field(
        default=DEFAULT_HOST,
        description="Address to listen on; beyond loopback tokens are needed, or without_token",
    )
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535, description="Port to listen on")
    tokens: list[ApiToken] = Field(
        default_factory=list, description="Who may ask, as bearer or as the password of basic"
    )
    without_token: Literal["auto", "nothing", "read", "admin"] = Field(
        default="auto",
        description="What may be done without a token. auto: everything on a loopback address as "
        "long as there are no tokens, else nothing. read or admin opens it to everyone who can "
        "reach it: for private networks",
    )
    oidc: OidcSettings | None = Field(default=None, description="People log in at a provider")
    tls_certificate: str = Field(
        default="", description="PEM file with the certificate and its chain: serves HTTPS"
    )
    tls_key: str = Field(default="", description="PEM file with the certificate's key")
    tls_key_password: SecretStr = Field(default=SecretStr(""), description="Of the key, if any")
    cors_origins: list[str] = Field(
        default_factory=list,
        description="Sites whose pages may ask the API, https://grafana.example; `*`: all may read",
    )
    event_streams: int = Field(
        default=100,
        ge=1,
        description="Clients that may follow /api/v1/events at a time. Beyond that the address "
        "with the most streams loses one to an address with fewer",
    )
    connections: int = Field(
        default=1000,
        ge=10,
        description="Open connections of clients; one more and the one that has waited longest "
        "for its request, or takes no answer, gives way. Never more than there are file "
        "descriptors for",
    )
    trusted_hosts: list[str] = Field(
        default_factory=list,
        description="Names under which clients without a token may ask, without port: those of a "
        "proxy in front, `*` for any. localhost and addresses are always trusted, on loopback its "
        "own only. Beyond loopback, without any, all names are, but for what browsers mark",
    )
    metrics_detail: Literal["group", "topic", "partition"] | None = Field(
        default=None,
        description="How fine the series of /metrics are: per group, also per topic of a group, "
        "or also per partition. By default partition, and topic above metrics_partitions",
    )
    metrics_origins: list[Literal["warren", "burrow", "kafka_lag_exporter", "tesla"]] | None = (
        Field(
            default=None,
            description="Whose names series of groups have in /metrics; each costs series of its "
            "own. By default all, and warren above metrics_partitions",
        )
    )
    metrics_partitions: int = Field(
        default=10_000,
        ge=0,
        description="Above so many partitions of groups /metrics leaves out what metrics_detail "
        "and metrics_origins do not ask for, until there are half as many",
    )
    filters: list[SavedFilter] = Field(
        default_factory=list, description="Searches of groups that the overview links"
    )
    reports_dir: str = Field(
        default="",
        description="Directory of the reports that pages link; empty for none. The archiver writes "
        "them after each pass (every > 0). `warren up` sets this",
    )

    @property
    def address(self) -> str:
        """Where it is reached from the machine that it runs on."""
        return api_address(self.host, self.port, tls=bool(self.tls_certificate))

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is no origin: scheme and host, as https://a.example")
        return origins

    @field_validator("tokens")
    @classmethod
    def _names(cls, tokens: list[ApiToken]) -> list[ApiToken]:
        if len({token.name for token in tokens}) < len(tokens):
            raise ValueError("two tokens have the same name")
        return tokens

    @field_validator("filters")
    @classmethod
    def _filter_names(cls, filters: list[SavedFilter]) -> list[SavedFilter]:
        if len({each.name for each in filters}) < len(filters):
            raise ValueError("two filters have the same name")
        return filters

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ValueError("tls_certificate and tls_key belong together: set both or none")
        return self

    @model_validator(mode="after")
    def _one_who_decides(self) -> Self:
        if self.oidc is not None and self.without_token == "admin":
            raise ValueError(
                'without_token = "admin" lets everybody change everything, whoever logs in by '
                'oidc: use "auto", or "read"'
            )
        return self
