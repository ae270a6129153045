"""`warren.dead-letters`: input that could not be used, whole and with the reason."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Base64Bytes, Field

from warren.contracts.event import Event, Milliseconds


class DeadLetter(Event):
    """One unusable record. The key is that of the source record."""

    topic_name: ClassVar[str] = "dead-letters"

    v: Literal[1] = 1
    service: str = Field(description="Which service could not use it")
    topic: str
    partition: int
    offset: int
    reason: str
    failed_at: Milliseconds
    key: Base64Bytes | None = Field(description="Raw key, base64")
    value: Base64Bytes | None = Field(description="Raw value, base64")
