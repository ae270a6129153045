"""Level: how late a partition usually is, and how far that varies. Trouble is a change from it."""

import numpy as np

from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import LONGEST_MS, Figure, Figures, Floats, Mark, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

LEVEL = Rule(
    "level",
    learns="how late its advances leave it, on average over an hour, and how far that varies",
    speaks="what is left counts from there; a new level is known after an hour, a lower one after "
    "5 min, the one at which it is met at once; what comes after a rest may become a third older",
    sentence="A lateness that stays the same is usual.",
    parameters=("left", "most_left", "varies"),
)


def written_at(figures: Figures) -> Floats:
    """[partition] the pace at which what is left was written, records per second. Where that has
    changed within the time that it is late, it is the quicker one: what has grown then is traffic.
    """
    pace: Floats = np.maximum(figures[Figure.PRODUCED], figures[Figure.WRITTEN])
    return np.maximum(pace, 0)


def lateness_ms(figures: Figures, lag: Int64 | Floats) -> Floats:
    """[partition] so long the lag takes to be written; LONGEST_MS where none is."""
    at_rest = figures[Figure.USUALLY_PRODUCED] / 4  # the log, just now
    pace = np.maximum(np.maximum(written_at(figures), at_rest), 1e-6)
    late: Floats = np.minimum(np.maximum(lag, 0) * 1000.0 / pace, LONGEST_MS)
    return late


def level_ms(figures: Figures) -> Floats:
    """[partition] how late it usually is; 0 where that is not known."""
    level: Floats = np.where(_is_known(figures), figures[Figure.USUALLY_LEFT], 0) * LEVEL.on
    return level


def _is_known(figures: Figures) -> Bools:
    known: Bools = figures[Figure.USUALLY_LEFT] >= 0
    return known


def rate_span_ms(figures: Figures) -> Int64:
    """[partition] of the average of what was written within the time that it is late."""
    return np.clip(level_ms(figures) / 2, BY.least_pause, BY.usual).astype(np.int64)


def learn_level(
    marks: Int64,
    figures: Figures,
    late: Floats,
    room: Floats,
    known: Bools,
    elapsed: Int64,
    stood_still: Bools,
    now: int | Int64,
) -> None:
    """`late`: so late an advance has left it, where that is `known`; `room`: more or less than
    usual by so much is usual, too. All ms.
    """
    if not LEVEL.on:
        return
    known = known & (late < LONGEST_MS)  # of a log at rest nobody knows how long it was written
    first = known & ~_is_known(figures)
    if first.any():  # whoever is met at work is met at its level
        met = np.where(stood_still, np.minimum(late, BY.least_left), late)
        figures[Figure.USUALLY_LEFT] = np.where(first, met, figures[Figure.USUALLY_LEFT])
        varies = np.minimum(met / 4, BY.most_left / BY.varies)  # nobody knows yet
        figures[Figure.VARIES] = np.where(first, varies, figures[Figure.VARIES])
    off = late - figures[Figure.USUALLY_LEFT]
    usual = known & (np.abs(off) <= room)
    span = np.clip(span_ms(now, marks[Mark.KNOWN_SINCE]), BY.new, BY.left)
    share = np.where(usual, elapsed / np.maximum(elapsed + span, 1), 0)
    figures[Figure.USUALLY_LEFT] += off * share
    figures[Figure.VARIES] += (np.abs(off) - figures[Figure.VARIES]) * share
    _learn_other(marks, figures, late, known & ~usual, stood_still, now)
    marks[Mark.LEVEL_SINCE] = np.where(usual, UNKNOWN, marks[Mark.LEVEL_SINCE])


def _learn_other(
    marks: Int64,
    figures: Figures,
    late: Floats,
    known: Bools,
    stood_still: Bools,
    now: int | Int64,
) -> None:
    """Another level, of which the least and the most are known, and since when both are."""
    if not known.any():  # as mostly
        return
    since = marks[Mark.LEVEL_SINCE]
    least, most = figures[Figure.LEAST_LATE], figures[Figure.MOST_LATE]
    higher = late > figures[Figure.USUALLY_LEFT]
    above = late > most + most / 16 + BY.least_left
    below = late < least - least / 16 - BY.least_left
    # Who goes further and further away has no level; nor has who is now here, now there.
    away = np.where(higher, above, below) | (most > 2 * np.minimum(least, late) + BY.most_left)
    anew = known & ((since < 0) | away | stood_still)
    least = np.where(anew, late, np.where(known & below, late, least))
    most = np.where(anew, late, np.where(known & above, late, most))
    since = np.where(anew | (known & (above | below)), now, since)
    length = np.where(higher, BY.left, BY.long)
    stays = known & (span_ms(now, since) >= length)
    figures[Figure.LEAST_LATE], figures[Figure.MOST_LATE] = least, most
    middle, quarter = (least + most) / 2, (most - least) / 4
    figures[Figure.USUALLY_LEFT] = np.where(stays, middle, figures[Figure.USUALLY_LEFT])
    figures[Figure.VARIES] = np.where(stays, quarter, figures[Figure.VARIES])
    marks[Mark.LEVEL_SINCE] = np.where(stays, UNKNOWN, since)
