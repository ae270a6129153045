"""Webhooks whose request is written by templates (Jinja2, sandboxed).

What a template prints is escaped for where it stands, so that no name can end a string and begin
another field: as JSON inside of a string, as a value of a form, or not at all. `tojson` and
`jsonencoder` make whole JSON values, which stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Literal
from urllib.parse import quote_plus

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup
from pydantic import Field, SecretStr, StringConstraints, field_validator
from warren.clock import Clock
from warren.settings.channels import web_address
from warren.words import shortened

from warren_notifier.channels.channel import ChannelUnusable, Kind, Refused, Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http import HttpChannel, HttpChannelSettings, Target
from warren_notifier.channels.http_endpoint import HttpEndpoint
from warren_notifier.channels.template_fields import Fields, jsonencoder, sample, template_fields
from warren_notifier.channels.template_functions import FILTERS, FUNCTIONS
from warren_notifier.channels.told_event import as_published
from warren_notifier.state.delivery import Delivery

BYTES = 1 << 20
HttpMethod = Literal["POST", "PUT", "PATCH", "GET", "DELETE"]


class TemplateSettings(HttpChannelSettings):
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
            web_address(value.get_secret_value())
        return value

    @property
    def target(self) -> Target:
        return super().target._replace(details=(self.close_url.get_secret_value(),))


class TemplateChannel(HttpChannel[TemplateSettings]):
    """One receiver; one request when it begins, changes or lasts, another one at the end.

    Raises ChannelUnusable.
    """

    tells_people = True

    def __init__(
        self, settings: TemplateSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, link_base, guard, clock)
        _, self._headers, (close_url,) = settings.target
        self._close_endpoint = (
            HttpEndpoint(close_url, settings, guard, clock, self._headers)
            if close_url
            else self._endpoint
        )
        self._extras = {name: value.get_secret_value() for name, value in settings.extras.items()}
        self._body = body_template(settings.body, settings.escape)
        self._close_body = (
            body_template(settings.close_body, settings.escape)
            if settings.close_body
            else self._body
        )
        for is_open in (True, False):
            self._written(sample(is_open=is_open))

    def _written(self, delivery: Delivery) -> bytes:
        text = self._text(delivery)
        event = as_published(delivery.event)
        fields = template_fields(text, event, delivery.pending, self._extras)
        template = self._body if text.is_open else self._close_body
        return rendered(template, fields, as_json=self._settings.escape == "json")

    async def send(self, delivery: Delivery) -> Result:
        text, settings = self._text(delivery), self._settings
        try:
            body = self._written(delivery)
        except ChannelUnusable as unusable:
            return Refused(unusable.problem)
        headers = {
            "content-type": settings.content_type,
            "webhook-id": delivery.pending.delivery_id,
            **self._headers,
        }
        at = self._endpoint if text.is_open else self._close_endpoint
        method = settings.method if text.is_open else settings.close_method or settings.method
        return await self._hand_over(body, headers, endpoint=at, method=method)

    async def close(self) -> None:
        await super().close()
        await self._close_endpoint.close()


def body_template(source: str, escape: str) -> Template:
    """Raises ChannelUnusable where it is no template."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_ESCAPES[escape], keep_trailing_newline=True
    )
    functions = {**FUNCTIONS, "jsonencoder": _jsonencoder}
    environment.globals |= functions
    environment.filters |= {name: functions[name] for name in (*FILTERS, "jsonencoder")}
    try:
        return environment.from_string(source)
    except TemplateSyntaxError as error:
        raise ChannelUnusable("body", f"line {error.lineno}: {error.message}") from None


def rendered(template: Template, fields: Fields | Mapping[str, object], *, as_json: bool) -> bytes:
    """Raises ChannelUnusable."""
    try:
        body = template.render(fields).encode()
    except TemplateError as error:  # a field that is not there, what the sandbox forbids
        raise ChannelUnusable("body", f"the template fails: {error.message}") from None
    except _FAILURES as error:
        name = type(error).__name__
        raise ChannelUnusable("body", f"the template fails: {name}: {error}") from None
    if len(body) > BYTES:
        raise ChannelUnusable("body", f"the template makes {len(body)} bytes, more than {BYTES}")
    if as_json:
        try:
            json.loads(body)
        except ValueError as error:
            made = shortened(body.decode(), 100)
            raise ChannelUnusable("body", f"the template makes no JSON: {error}: {made}") from None
    return body


_FAILURES = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def _jsonencoder(value: object) -> Markup:
    return Markup(jsonencoder(value))


def _in_json(value: object) -> object:
    """Text as it stands between quotes, anything else as JSON has it."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return json.dumps(value)[1:-1]
    if isinstance(value, Undefined):
        return str(value)  # says what is missing
    return json.dumps(value)


def _in_form(value: object) -> object:
    return value if isinstance(value, Markup) else quote_plus(str(value))


def _as_it_is(value: object) -> object:
    return value


_ESCAPES: dict[str, Callable[[object], object]] = {
    "json": _in_json,
    "form": _in_form,
    "none": _as_it_is,
}


KIND = Kind(TemplateSettings, TemplateChannel)
