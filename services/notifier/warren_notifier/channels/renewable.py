"""Channels whose secrets can be changed while they are in use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from warren_notifier.channels.channel import (
    Channel,
    Result,
    resend_intervals,
    takes_acknowledgements,
    tells_people,
)
from warren_notifier.channels.digest import Digest, tells_many
from warren_notifier.state.delivery import Delivery


class RenewableChannel:
    """The channel in force; the one before it is closed when its last attempt has ended."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._attempts: dict[int, int] = {}
        self.identity = channel.identity
        self.timeout = channel.timeout
        self.concurrency = channel.concurrency
        self.takes_acknowledgements = takes_acknowledgements(channel)
        self.tells_people = tells_people(channel)
        self.resend_ms = resend_intervals({"": channel}).get("", 0)

    async def renew(self, channel: Channel) -> None:
        """Puts a channel in force that leads to the same place."""
        old, self._channel = self._channel, channel
        self.identity = channel.identity
        if id(old) not in self._attempts:
            await old.close()

    async def send(self, delivery: Delivery) -> Result:
        async with self._in_use() as channel:
            return await channel.send(delivery)

    async def close(self) -> None:
        await self._channel.close()

    @asynccontextmanager
    async def _in_use(self) -> AsyncIterator[Channel]:
        channel = self._channel
        self._attempts[id(channel)] = self._attempts.get(id(channel), 0) + 1
        try:
            yield channel
        finally:
            self._attempts[id(channel)] -= 1
            if not self._attempts[id(channel)]:
                del self._attempts[id(channel)]
                if channel is not self._channel:
                    await channel.close()


class RenewableDigestChannel(RenewableChannel):
    """Likewise, of a channel that can tell many in one message."""

    async def send_many(self, digest: Digest) -> Result:
        async with self._in_use() as channel:
            if not tells_many(channel):
                raise TypeError("a channel that told many was replaced by one that cannot")
            return await channel.send_many(digest)


def renewable(channel: Channel) -> RenewableChannel:
    return RenewableDigestChannel(channel) if tells_many(channel) else RenewableChannel(channel)
