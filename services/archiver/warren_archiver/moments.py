"""Moments of a clock as tables have them."""

from datetime import UTC, datetime

from warren.clock import Clock


def moment(clock: Clock) -> datetime:
    """Now, UTC."""
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
