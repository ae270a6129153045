"""`[api]`: the HTTP server, and who may ask it what."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from warren.api_address import DEFAULT_HOST, DEFAULT_PORT, api_address
from warren.section import Section
from warren.settings.oidc import OidcSettings

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
        description="Clients that may follow /api/v1/events at a time. Beyond that the caller "
        "with the most streams loses one to a caller with fewer",
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
