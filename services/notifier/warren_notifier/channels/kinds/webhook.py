"""Webhooks: the CloudEvent by POST, signed as Standard Webhooks describe; or a body of one's own.

https://github.com/standard-webhooks/standard-webhooks: the id stays over all attempts, the
timestamp is the attempt's, so that a receiver can refuse old ones.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup
from pydantic import AfterValidator, Field, SecretStr, StringConstraints, model_validator
from standardwebhooks import Webhook
from warren.clock import Clock
from warren.contracts import NotificationTest
from warren.contracts.status_change import CONTENT_TYPE

from warren_notifier.channels.channel import (
    ChannelUnusable,
    HttpChannel,
    HttpChannelSettings,
    Kind,
    Refused,
    Result,
)
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.routing import trial
from warren_notifier.state.telling import Delivery

BYTES = 1 << 20  # of a body that a template makes
# What a template may do wrong beside Jinja's own errors.
_FAILURES = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def _signing(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().removeprefix("whsec_")
    try:
        size = len(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except binascii.Error:
        raise ValueError("whsec_ and base64 are needed") from None
    if not 24 <= size <= 64:
        raise ValueError(f"24 to 64 bytes are needed, these are {size}")
    return secret


SigningSecret = Annotated[SecretStr, AfterValidator(_signing)]


class WebhookSettings(HttpChannelSettings):
    """A webhook: the CloudEvent by POST, signed as Standard Webhooks describe."""

    type: Literal["webhook"] = Field(description="Kind of channel")
    secret: SigningSecret | None = Field(
        default=None,
        description="Signing secret: `whsec_` and 24 to 64 bytes in base64; needed without `body`",
    )
    previous_secrets: list[SigningSecret] = Field(
        default_factory=list,
        max_length=5,
        description="Secrets of before, which the receiver may still have: all sign each request",
    )
    body: str = Field(
        default="",
        description="Template (Jinja2) of the body, with the event's fields; empty: the event",
    )
    content_type: Annotated[str, StringConstraints(pattern=r"^[!-~][ -~]*$")] = Field(
        default="application/json",
        description="Content-Type of a `body`; where it is JSON, what a template prints is too",
    )

    @model_validator(mode="after")
    def _is_signed(self) -> Self:
        if self.secret is None and not self.body:
            raise ValueError("secret: is needed, or a body")
        return self


class WebhookChannel(HttpChannel[WebhookSettings]):
    """One receiver. Raises ChannelUnusable for a template that fails."""

    def __init__(
        self, settings: WebhookSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, link_base, guard, clock)
        secrets = [*filter(None, [settings.secret]), *settings.previous_secrets]
        self._signers = [Webhook(secret.get_secret_value()) for secret in secrets]
        self._is_json = "json" in settings.content_type
        self._content_type = f"{CONTENT_TYPE}; charset=utf-8"
        self._template: Template | None = None
        if settings.body:
            self._content_type = settings.content_type
            self._template = body_template(settings.body, as_json=self._is_json)
            asked = NotificationTest(id="0", route="example", by="example", at=0)
            self._rendered(self._template, trial.opening(asked, 0).event.model_dump(mode="json"))

    async def send(self, delivery: Delivery) -> Result:
        body = _event(delivery)
        if self._template is not None:
            try:
                body = self._rendered(self._template, json.loads(body))
            except ChannelUnusable as unusable:
                return Refused(unusable.problem)
        headers = self._headers(delivery.pending.delivery_id, body)
        if delivery.pending.left_out:
            headers["warren-left-out"] = str(delivery.pending.left_out)
        if delivery.pending.flapping is not None:
            headers["warren-flapping"] = str(delivery.pending.flapping.openings)
        return await self._hand_over(body.encode(), headers)

    def _headers(self, delivery_id: str, body: str) -> dict[str, str]:
        now = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        headers = {
            "content-type": self._content_type,
            **self._settings.target.headers,
            "webhook-id": delivery_id,
        }
        if not self._signers:
            return headers
        signatures = [signer.sign(delivery_id, now, body) for signer in self._signers]
        return headers | {
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }

    def _rendered(self, template: Template, event: Mapping[str, Any]) -> str:
        """Raises ChannelUnusable."""
        try:
            body = template.render(event)
            if len(body.encode()) > BYTES:
                raise ValueError(f"more than {BYTES} bytes")
            if self._is_json:
                json.loads(body)
        except TemplateError as error:  # a field that is not there, what the sandbox forbids
            raise ChannelUnusable("body", f"the template fails: {error.message}") from None
        except _FAILURES as error:
            problem = f"the template fails: {type(error).__name__}: {error}"
            raise ChannelUnusable("body", problem) from None
        return body


def body_template(source: str, *, as_json: bool) -> Template:
    """Raises ChannelUnusable where it is no template."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        finalize=_as_json if as_json else None,
        keep_trailing_newline=True,
    )
    try:
        return environment.from_string(source)
    except TemplateSyntaxError as error:
        raise ChannelUnusable("body", f"line {error.lineno}: {error.message}") from None


def _as_json(value: object) -> object:
    """A JSON value, so that no name can end a string and begin another field."""
    if isinstance(value, Undefined):
        return str(value)  # says what is missing
    return value if isinstance(value, Markup) else json.dumps(value)


def _event(delivery: Delivery) -> str:
    """The event as published. Repeated, it has an id of its own: receivers drop known ones. One of
    another incident than that which goes on by it is of the one that the receiver knows.
    """
    event, pending = delivery.event, delivery.pending
    if event is None:
        raise TypeError("only what has an event is sent")
    data = event.data.model_copy(update={"incident_id": pending.incident_id})
    again = f".{pending.repeat}" if pending.kind == "repeated" else ""
    update = {"id": f"{event.id}{again}", "data": data}
    return event.model_copy(update=update).model_dump_json()


KIND = Kind(WebhookSettings, WebhookChannel)
