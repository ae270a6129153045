"""`warren.dead-letters`: input that could not be used, with the reason; cut if it is too long."""

from typing import ClassVar, Literal, Self

from pydantic import Base64Bytes, Field

from warren.contracts.event import MOST_BYTES, Event, Moment

MOST_KEY_BYTES = 64 * 1024
MOST_REASON_LENGTH = 4096  # characters
_OVERHEAD = 64 * 1024  # bytes of a letter besides key and value; generous


class DeadLetter(Event):
    """One unusable record. The key is that of the source record, cut as here."""

    topic_name: ClassVar[str] = "dead-letters"

    v: Literal[1] = 1
    service: str = Field(description="Which service could not use it")
    topic: str
    partition: int
    offset: int
    reason: str
    failed_at: Moment
    key: Base64Bytes | None = Field(description="Raw key, base64")
    value: Base64Bytes | None = Field(description="Raw value, base64")
    cut: bool = Field(
        default=False, description="Key or value is only the beginning: it was too long"
    )
    key_size: int | None = Field(default=None, description="Bytes of the source record's key")
    value_size: int | None = Field(default=None, description="Bytes of the source record's value")

    @classmethod
    def of(
        cls,
        *,
        service: str,
        topic: str,
        partition: int,
        offset: int,
        reason: str,
        failed_at: int,
        key: bytes | None,
        value: bytes | None,
        most_bytes: int = MOST_BYTES,
    ) -> Self:
        """Key and value are raw, and cut to what a record of `most_bytes` takes."""
        return cls.model_construct(
            service=service,
            topic=topic,
            partition=partition,
            offset=offset,
            reason=reason[:MOST_REASON_LENGTH],
            failed_at=failed_at,
            key=key,
            value=value,
            key_size=None if key is None else len(key),
            value_size=None if value is None else len(value),
        ).cut_to(most_bytes)

    def cut_to(self, most_bytes: int) -> Self:
        """With no more of key and value than a record of `most_bytes` takes."""
        key = None if self.key is None else self.key[:MOST_KEY_BYTES]
        # The key is in the letter and beside it. Base64 makes four bytes of three.
        room = most_bytes - _OVERHEAD - 3 * len(key or b"")
        value = None if self.value is None else self.value[: max(room, 0) // 4 * 3]
        if (key, value) == (self.key, self.value):
            return self
        return self.model_copy(update={"key": key, "value": value, "cut": True})
