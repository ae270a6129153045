"""`[notifier.channels.<name>]`: where changes can go, by `type`."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

import httpx
from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator

from warren.section import Seconds, Section
from warren.settings.http_headers import HttpHeaders, plain_headers

Address = Annotated[str, StringConstraints(pattern=r"^[^\s@]+@[^\s@]+$")]


def _web_address(value: str) -> str:
    """Raises ValueError, also for a port that there is not: `urlsplit` says so when asked."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an http:// or https:// URL is needed")
    try:
        host = httpx.URL(value).host
    except (httpx.InvalidURL, UnicodeError) as error:  # UnicodeError: of the library idna
        raise ValueError(str(error)) from None
    if parts.port == 0 or re.search(r"\s|%20", host):
        raise ValueError("host or port is none")
    return value.rstrip("/")


ChannelKind = Literal[
    "webhook",
    "email",
    "slack",
    "slack-bot",
    "pagerduty",
    "alertmanager",
    "alertmanager-webhook",
    "teams",
    "template",
    "apprise",
    "opsgenie",
]
"""Each `type`."""
LEAST_RATE = 0.01  # messages a minute
AlertLabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
WebAddress = Annotated[str, AfterValidator(_web_address)]
WebAddressOrNone = Annotated[str, AfterValidator(lambda value: value and _web_address(value))]


class ChannelSettings(Section):
    """What all channels have."""

    timeout: Seconds = Field(default=10, description="Seconds that one attempt may take")
    concurrency: int = Field(default=4, ge=1, le=64, description="Most attempts at the same time")
    rate: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0, description="Messages a minute at most, of all notifiers together; 0: no limit"
    )
    burst: int = Field(default=10, ge=1, description="With `rate`: messages that go at once")
    ca: str = Field(
        default="", description="Certificate authorities to trust beside the usual ones, PEM"
    )

    @field_validator("rate")
    @classmethod
    def _now_and_then(cls, value: float) -> float:
        if 0 < value < LEAST_RATE:
            raise ValueError(f"is {LEAST_RATE:g} at least, a message in 100 minutes; 0: no limit")
        return value


class HttpChannelSettings(ChannelSettings):
    """What all channels have that are a URL."""

    url: SecretStr = Field(description="http:// or https:// URL")
    headers: HttpHeaders = Field(
        default_factory=dict, description="Headers to add, for example Authorization"
    )

    @field_validator("url")
    @classmethod
    def _url(cls, value: SecretStr) -> SecretStr:
        _web_address(value.get_secret_value())
        return value

    def plain_headers(self) -> dict[str, str]:
        """`headers` as they are sent."""
        return plain_headers(self.headers)


class WebhookChannelSettings(HttpChannelSettings):
    """A webhook: the CloudEvent by POST, signed as Standard Webhooks describe."""

    type: Literal["webhook"] = Field(description="Kind of channel")
    secret: SecretStr = Field(description="Signing secret: `whsec_` and 24 to 64 bytes in base64")
    previous_secrets: list[SecretStr] = Field(
        default_factory=list,
        max_length=5,
        description="Secrets of before, which the receiver may still have: all sign each request",
    )

    @field_validator("previous_secrets")
    @classmethod
    def _previous_secrets(cls, value: list[SecretStr]) -> list[SecretStr]:
        return [cls._secret(secret) for secret in value]

    @field_validator("secret")
    @classmethod
    def _secret(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value().removeprefix("whsec_")
        try:
            size = len(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
        except binascii.Error:
            raise ValueError("whsec_ and base64 are needed") from None
        if not 24 <= size <= 64:
            raise ValueError(f"24 to 64 bytes are needed, these are {size}")
        return value


class EmailChannelSettings(ChannelSettings):
    """E-mail through an SMTP server: text and HTML, one thread for what is told together."""

    type: Literal["email"] = Field(description="Kind of channel")
    host: str = Field(min_length=1, description="SMTP server")
    port: int = Field(
        default=0, ge=0, le=65535, description="0 for the usual one: 587, 465 for tls, 25 for none"
    )
    tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Encryption: upgraded, from the start, or none"
    )
    username: str = Field(default="", description="User name; empty for no login")
    password: SecretStr = Field(default=SecretStr(""), description="Password")
    sender: Address = Field(description="Address that mails come from")
    to: list[Address] = Field(min_length=1, description="Recipients")
    plot: bool = Field(
        default=True,
        description="A plot of the last hour in mails about one group, from Warren's API",
    )
    api: WebAddressOrNone = Field(
        default="", description="URL of Warren's API, for plots; empty: as `link_base`"
    )
    api_token: SecretStr = Field(
        default=SecretStr(""), description="Token that may read there, where one is needed"
    )

    @field_validator("api_token")
    @classmethod
    def _api_token(cls, value: SecretStr) -> SecretStr:
        return _printable(value)


class SlackChannelSettings(HttpChannelSettings):
    """A Slack incoming webhook: a message for each change."""

    type: Literal["slack"] = Field(description="Kind of channel")


class SlackBotChannelSettings(ChannelSettings):
    """A Slack bot: one thread per incident, whose first message says how it stands."""

    type: Literal["slack-bot"] = Field(description="Kind of channel")
    token: SecretStr = Field(
        min_length=1, description="Bot token (`xoxb-…`) with the scope chat:write"
    )
    conversation: str = Field(
        min_length=1, description="Id of the Slack channel, `C…`; the bot must be in it"
    )
    api: WebAddress = Field(default="https://slack.com/api", description="URL of Slack's Web API")

    @field_validator("token")
    @classmethod
    def _token(cls, value: SecretStr) -> SecretStr:
        return _printable(value)


PagerDutySeverity = Literal["critical", "error", "warning", "info"]


class PagerDutyChannelSettings(ChannelSettings):
    """PagerDuty, Events API v2: an alert per incident."""

    type: Literal["pagerduty"] = Field(description="Kind of channel")
    routing_key: SecretStr = Field(description="Integration key, 32 characters")
    severities: dict[Literal["WARN", "ERR"], PagerDutySeverity] = Field(
        default_factory=dict,
        description="PagerDuty's severity for a status: critical, error, warning or info; "
        "otherwise critical for ERR and warning for WARN",
    )
    url: WebAddress = Field(
        default="https://events.pagerduty.com/v2/enqueue",
        description="URL of the Events API; in the EU https://events.eu.pagerduty.com/v2/enqueue",
    )

    @field_validator("routing_key")
    @classmethod
    def _routing_key(cls, value: SecretStr) -> SecretStr:
        if not re.fullmatch("[A-Za-z0-9]{32}", value.get_secret_value()):
            raise ValueError("an integration key has 32 letters and digits")
        return value


class _AlertLabels(HttpChannelSettings):
    """What all channels have that speak of alerts."""

    labels: dict[AlertLabelName, str] = Field(
        default_factory=dict,
        description="Labels to add to alertname, cluster, consumer_group, severity and owner",
    )


class AlertmanagerChannelSettings(_AlertLabels):
    """Prometheus Alertmanager: an alert per incident."""

    type: Literal["alertmanager"] = Field(description="Kind of channel")
    resend_interval: Annotated[float, Field(ge=1)] = Field(
        default=120,
        description="Seconds after which an alert is sent again while it lasts; Alertmanager takes "
        "it for resolved when it has heard nothing for four times as long",
    )

    @field_validator("url")
    @classmethod
    def _base(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().rstrip("/").removesuffix("/api/v2/alerts"))


class AlertmanagerWebhookChannelSettings(_AlertLabels):
    """A webhook as Alertmanager sends it (version 4)."""

    type: Literal["alertmanager-webhook"] = Field(description="Kind of channel")


class TeamsChannelSettings(HttpChannelSettings):
    """Microsoft Teams: a workflow that posts a card for each change."""

    type: Literal["teams"] = Field(description="Kind of channel")


HttpMethod = Literal["POST", "PUT", "PATCH", "GET", "DELETE"]


class TemplateChannelSettings(HttpChannelSettings):
    """A webhook whose request is written by templates, with Burrow's fields and Warren's."""

    type: Literal["template"] = Field(description="Kind of channel")
    method: HttpMethod = Field(default="POST", description="POST, PUT, PATCH, GET or DELETE")
    content_type: Annotated[str, StringConstraints(pattern=r"^[!-~][ -~]*$")] = Field(
        default="application/json", description="Header Content-Type"
    )
    body: str = Field(description="Template (Jinja2) of the request's body; `body_file` names one")
    escape: Literal["json", "form", "none"] = Field(
        default="json",
        description="How what a template prints is escaped: for a string in JSON, for a value in a "
        "form, or none",
    )
    close_url: SecretStr = Field(
        default=SecretStr(""), description="URL at an incident's end; empty: the same"
    )
    close_method: HttpMethod | Literal[""] = Field(
        default="", description="Method at an incident's end; empty: the same"
    )
    close_body: str = Field(
        default="", description="Template at an incident's end; empty: the same"
    )
    extras: dict[str, SecretStr] = Field(
        default_factory=dict, description="What templates find in `Extras`, such as keys"
    )

    @field_validator("close_url")
    @classmethod
    def _close_url(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value():
            _web_address(value.get_secret_value())
        return value


class AppriseChannelSettings(ChannelSettings):
    """What the library Apprise knows (extra `apprise`)."""

    type: Literal["apprise"] = Field(description="Kind of channel")
    url: SecretStr = Field(description="Apprise's URL of the service, such as `ntfys://topic`")


OpsgeniePriority = Literal["P1", "P2", "P3", "P4", "P5"]


class OpsgenieChannelSettings(ChannelSettings):
    """Opsgenie, or Jira Service Management: an alert per incident."""

    type: Literal["opsgenie"] = Field(description="Kind of channel")
    api_key: SecretStr = Field(min_length=1, description="Key of the API integration")
    teams: list[str] = Field(
        default_factory=list, description="Names or ids of teams; empty: as the integration says"
    )
    priorities: dict[Literal["WARN", "ERR"], OpsgeniePriority] = Field(
        default_factory=dict,
        description="Priority for a status, P1 to P5; otherwise P1 for ERR and P3 for WARN",
    )
    url: WebAddress = Field(
        default="https://api.opsgenie.com",
        description="URL of the API: in the EU https://api.eu.opsgenie.com, of Jira Service "
        "Management https://api.atlassian.com/jsm/ops/integration",
    )

    @field_validator("api_key")
    @classmethod
    def _api_key(cls, value: SecretStr) -> SecretStr:
        return _printable(value)


AnyChannelSettings = Annotated[
    WebhookChannelSettings
    | EmailChannelSettings
    | SlackChannelSettings
    | SlackBotChannelSettings
    | PagerDutyChannelSettings
    | AlertmanagerChannelSettings
    | AlertmanagerWebhookChannelSettings
    | TeamsChannelSettings
    | TemplateChannelSettings
    | AppriseChannelSettings
    | OpsgenieChannelSettings,
    Field(discriminator="type"),
]


def _printable(value: SecretStr) -> SecretStr:
    """Fit for a header."""
    text = value.get_secret_value()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it is not printable ASCII")
    return value
