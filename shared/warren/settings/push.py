"""`[api.push]`: receivers that are sent what `/metrics` serves. An address turns each on."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, model_validator

from warren.section import Section
from warren.settings.channels import WebAddressOrNone
from warren.settings.http_headers import HttpHeaders, plain_headers

GRAPHITE_PORT = 2003


def _without_user(value: str) -> str:
    if "@" in urlsplit(value).netloc:
        raise ValueError("no user and password in a URL, which is logged: there are settings")
    return value


def _host_and_port(value: str) -> str:
    if value:
        host_and_port(value)
    return value


def host_and_port(address: str) -> tuple[str, int]:
    """Raises ValueError where it is none."""
    parts = urlsplit(f"//{address}")
    if not parts.hostname or parts.path or parts.username or re.search(r"\s", address):
        raise ValueError("host:port is needed")
    return parts.hostname, GRAPHITE_PORT if parts.port is None else parts.port


def _printable(value: SecretStr) -> SecretStr:
    plain = value.get_secret_value()
    if not (plain.isascii() and (plain.isprintable() or not plain)):
        raise ValueError("is not printable ASCII")
    return value


Url = Annotated[WebAddressOrNone, AfterValidator(_without_user)]
Secret = Annotated[SecretStr, AfterValidator(_printable)]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
LabelValue = Annotated[str, StringConstraints(min_length=1, max_length=250)]


class ReceiverSettings(Section):
    """What all receivers have."""

    interval: Annotated[float, Field(ge=1, le=300)] = Field(
        default=60, description="Seconds between pushes; attempts of one end when the next is due"
    )
    timeout: Annotated[float, Field(ge=0.1, le=300)] = Field(
        default=10, description="Seconds that one request may take"
    )
    batch: Annotated[int, Field(ge=100, le=50_000)] = Field(
        default=5_000, description="Samples in one request at most"
    )
    detail: Literal["group", "topic", "partition"] | None = Field(
        default=None, description="As metrics_detail, for this receiver; by default as /metrics"
    )
    origins: list[Literal["warren", "burrow", "kafka_lag_exporter", "tesla"]] | None = Field(
        default=None, description="As metrics_origins, for this receiver; by default as /metrics"
    )
    labels: dict[LabelName, LabelValue] = Field(
        default_factory=dict,
        description="Labels for every series, for example `instance` where several copies of the "
        "api push to one receiver",
    )


class HttpReceiverSettings(ReceiverSettings):
    """What receivers have that are asked over HTTP."""

    headers: HttpHeaders = Field(
        default_factory=dict, description="Headers to add; `Authorization_file` reads one's value"
    )
    ca: str = Field(
        default="", description="Certificate authorities to trust beside the usual ones, PEM"
    )

    def plain_headers(self) -> dict[str, str]:
        """`headers` as they are sent."""
        return plain_headers(self.headers)


class OtlpSettings(HttpReceiverSettings):
    """An OpenTelemetry collector, or what else takes OTLP over HTTP (extra `otlp`)."""

    endpoint: Url = Field(
        default="",
        description="http://collector:4318; `/v1/metrics` is added unless it ends so. Prometheus: "
        "http://prometheus:9090/api/v1/otlp",
    )


class InfluxDbSettings(HttpReceiverSettings):
    """InfluxDB, or what else takes its line protocol (extra `influxdb`)."""

    url: Url = Field(default="", description="http://influxdb:8086")
    bucket: str = Field(default="", description="Bucket, of InfluxDB 2 and newer")
    org: str = Field(default="", description="Organisation, with a bucket")
    token: Secret = Field(default=SecretStr(""), description="Token that may write, if needed")
    database: str = Field(
        default="warren", description="Database, of InfluxDB 1, where no bucket is named"
    )
    username: str = Field(default="", description="User of InfluxDB 1, if needed")
    password: Secret = Field(default=SecretStr(""), description="Of the user")

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.token.get_secret_value() and self.username:
            raise ValueError("token and username are two ways in: set one")
        return self


class GraphiteSettings(ReceiverSettings):
    """Graphite's carbon, or what else takes its plain text over TCP."""

    address: Annotated[str, AfterValidator(_host_and_port)] = Field(
        default="", description=f"host:port; {GRAPHITE_PORT} without a port"
    )
    prefix: Annotated[str, StringConstraints(pattern=r"^([a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*)?$")] = (
        Field(default="", description="Put before each name, with a dot")
    )
    tags: bool = Field(
        default=True,
        description="Labels as tags (`name;label=value`, Graphite 1.1 and newer), or else in the "
        "path (`name.label.value`)",
    )


class PushSettings(Section):
    """Receivers that are sent what /metrics serves."""

    otlp: OtlpSettings = Field(default_factory=OtlpSettings)
    influxdb: InfluxDbSettings = Field(default_factory=InfluxDbSettings)
    graphite: GraphiteSettings = Field(default_factory=GraphiteSettings)
