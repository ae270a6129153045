"""What counts of a measurement where some topics do not."""

from support.freshness_events import WELL, freshness_event, late
from warren.contracts import FreshnessEvent, WorstFreshness
from warren_core.judgement.counted import without

QUIET = [late(500, lost_records=2, time_to_loss_ms=90), late(40), WELL]
LOUD = [
    late(None, reason="expired", bound_ms=9_000, lost_records=64),
    late(7_000, time_to_loss_ms=10, time_to_loss_reason="retention_ms"),
]
BOTH = freshness_event(0, topics={"quiet": QUIET, "loud": LOUD})
FIGURES = ("freshness_ms", "at_least_ms", "lost_records", "time_to_loss_ms", "topics")


def figures(event: FreshnessEvent) -> list[object]:
    return [getattr(event, name) for name in FIGURES]


def test_a_group_s_own_figures_are_of_the_topics_that_count() -> None:
    quiet, loud = without(BOTH, {"loud", "unheard of"}), without(BOTH, {"quiet"})
    assert figures(quiet) == figures(freshness_event(0, topics={"quiet": QUIET}))
    assert figures(loud) == figures(freshness_event(0, topics={"loud": LOUD}))
    assert quiet.worst == WorstFreshness(topic="quiet", partition=0, freshness_ms=500)
    assert loud.worst is not None
    assert (loud.worst.freshness_ms, loud.worst.at_least) == (9_000, True)
    assert (quiet.time_to_loss_reason, loud.time_to_loss_reason) == (None, "retention_ms")
    assert FreshnessEvent.from_bytes(loud.to_bytes()) == loud


def test_without_any_topic_nothing_is_known() -> None:
    nothing = without(BOTH, BOTH.topics)
    assert figures(nothing) == figures(freshness_event(0, topics={}))
    assert nothing.worst is None


def test_where_all_count_it_stays_as_it_is() -> None:
    assert without(BOTH, {"other"}) is BOTH


def test_what_was_never_committed_stays_a_bound() -> None:
    """What came since it was first seen so has no value, and is not nothing."""
    never, still = (late(None, reason="no_commit", bound_ms=ms) for ms in (70_000, None))
    kept = without(freshness_event(0, topics={"loud": LOUD, "new": [never]}), {"loud"})
    assert (kept.freshness_ms, kept.at_least_ms) == (None, 70_000)
    kept = without(freshness_event(0, topics={"loud": LOUD, "new": [still, *QUIET]}), {"loud"})
    assert (kept.freshness_ms, kept.at_least_ms) == (500, None)
