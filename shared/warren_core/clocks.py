"""Clocks of other machines: what is dated ahead of one's own tells of no moment that was."""

from warren.errors import ContractViolation
from warren.words import duration

MOST_AHEAD_MS = 60_000
"""Clocks that are kept in step differ by milliseconds (NTP). What is dated further ahead is
refused: it would say of its group what only that time can tell, and hide all that follows until
then. A state that is, as all clocks were set back, does not count."""


def is_ahead(at: int, now: float) -> bool:
    """Whether it is dated too far ahead of `now`, both Unix milliseconds."""
    return at - now > MOST_AHEAD_MS


def require_past(field: str, at: int, now: int) -> None:
    """Raise ContractViolation for what is dated too far ahead of `now`, both Unix milliseconds."""
    if is_ahead(at, now):
        raise ContractViolation(
            f"{field}: {duration(at - now)} ahead of this worker's clock; is the writer's, "
            "or this one's, set wrong?"
        )
