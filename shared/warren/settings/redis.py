"""`[redis]`: the cache."""

from __future__ import annotations

from pydantic import Field, SecretStr

from warren.section import Section


class RedisSettings(Section):
    """Redis or Valkey: a cache that can be rebuilt, never a store."""

    url: SecretStr = Field(
        default=SecretStr("redis://localhost:6379/0"), description="redis:// or rediss:// URL"
    )
