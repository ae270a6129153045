"""Returns: what is odd, and comes back at the same time of the hour, day or week, as long."""

import numpy as np

from warren_core.evaluation.rule import BY, Rule, S
from warren_core.evaluation.track import Mark, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

RETURNS = Rule(
    "returns",
    learns="three stops, or growths, that were odd, each as long, and as long after the one before",
    speaks="the next one that begins when it is due has that time, and a quarter more; a stop only "
    "where that is a day or more",
    sentence="What comes back at its time, for its time, is usual.",
    parameters=("apart", "off"),
)
_ROOM_MS = 10 * S  # what has a usual length may take that longer, too
_DAY_MS = 20 * 3_600_000  # what is less far apart is no day; a stop that comes more often is a loop
_MOST_OFF_MS = 2 * 3_600_000  # days are busy a little earlier or later
_ENOUGH = 1  # times that it has come back after as long as before
_LEFT_OUT = 3  # so many turns may go by without one


def with_room(length: Int64) -> Int64:
    """How long may take what usually takes so long."""
    longer: Int64 = length + (length * BY.room).astype(np.int64) + np.minimum(length, _ROOM_MS)
    return longer


def _turn(marks: Int64, began: Int64) -> tuple[Bools, Int64]:
    """[partition] it began when one is due; and how long after the last one."""
    at, apart = marks[[Mark.RETURN_AT, Mark.RETURN_APART]]
    since = span_ms(began, at)
    turns = np.maximum((since + apart // 2) // np.maximum(apart, 1), 1)
    off = np.abs(since - turns * apart)
    most = np.minimum(BY.off * apart, _MOST_OFF_MS)
    is_due: Bools = (apart >= BY.apart) & (turns <= _LEFT_OUT) & (off <= most)
    return is_due, since


def returning_ms(marks: Int64, began: Int64, *, is_stop: bool) -> Int64 | int:
    """[partition] how long what began then is usual; 0 where nothing is due."""
    known = (marks[Mark.RETURNS] >= _ENOUGH) & RETURNS.on & (began >= 0)
    if is_stop:
        known &= marks[Mark.RETURN_APART] >= _DAY_MS
    if not known.any():  # as mostly
        return 0
    is_due, _ = _turn(marks, began)
    return np.where(known & is_due, marks[Mark.RETURN_LENGTH], 0)


def learn_return(marks: Int64, odd: Bools, began: Int64, length: Int64) -> None:
    """`odd`: something has ended that began then and took so long, and nothing explains it."""
    if not (odd.any() and RETURNS.on):
        return
    apart, before = marks[[Mark.RETURN_APART, Mark.RETURN_LENGTH]]
    is_due, since = _turn(marks, began)
    alike = is_due & (2 * length >= before) & (length <= 2 * before)
    # An accident in between is none of them; what has not come for so long is forgotten.
    odd = odd & ~((marks[Mark.RETURNS] > 0) & ~alike & (since < (_LEFT_OUT + 1) * apart))
    again = np.where(marks[Mark.RETURN_AT] < 0, UNKNOWN, np.where(alike, apart, since))
    count = np.where(alike, np.minimum(marks[Mark.RETURNS] + 1, 1_000), 0)
    longest = np.where(alike, np.maximum(length, before - before // 8), length)
    for mark, value in (
        (Mark.RETURN_AT, began),
        (Mark.RETURN_APART, again),
        (Mark.RETURNS, count),
        (Mark.RETURN_LENGTH, longest),
    ):
        marks[mark] = np.where(odd, value, marks[mark])
