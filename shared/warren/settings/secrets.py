"""The secrets among settings, for redaction."""

from collections.abc import Iterator

from pydantic import SecretStr

from warren.section import Section
from warren.settings.connection import KafkaConnection

# All of librdkafka's properties are kept as secrets; most are words like `true` and `PLAIN`.
_TELLING = ("jaas", "oauthbearer.config", "password", "pem", "secret", "token")


def secret_values(section: Section) -> Iterator[str]:
    """Values of all secrets in a table of warren.toml and in those below it."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(section, KafkaConnection) and name == "kafka":
            value = {
                key: text for key, text in value.items() if any(word in key for word in _TELLING)
            }
        yield from _secrets(value)


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, Section):
        yield from secret_values(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _secrets(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secrets(item)
