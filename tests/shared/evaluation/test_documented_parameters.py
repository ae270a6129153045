"""docs/evaluation.md names the parameters of `progress` that the code has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from warren_core.evaluation import (
    backlog,
    clockwork,
    learning,
    presence,
    rewinds,
    track,
    usual,
    waits,
)
from warren_core.evaluation.track import Figure, Mark
from warren_core.judgement import facts, log_causes, turns

ROOT = Path(__file__).parents[3]


def s(ms: int) -> str:
    return f"{ms / 1000:g} s"


def m(ms: int) -> str:
    return f"{ms / 60_000:g} min"


def hour() -> str:
    """Minutes of patience with who pauses for an hour."""
    marks = np.full((len(Mark), 1), -1, np.int64)
    marks[[Mark.PAUSE, Mark.WAITS]] = np.array([[60 * 60_000], [usual.ENOUGH_WAITS]])
    marks[[Mark.REST, Mark.GOES, Mark.RHYTHM, Mark.REPEATS]] = 0
    figures = np.full((len(Figure), 1), -1.0)
    return f"an hour: {int(usual.patience_at_any_time_ms(marks, figures)[0]) // 60_000} min"


SENTENCES = [
    f"The longest of: {s(usual.LEAST_WAIT_MS)}; {m(usual.UNLEARNT_WAIT_MS)} x "
    f"({track.ENOUGH_WAITS} - waits seen) / {track.ENOUGH_WAITS}; and from the pause: twice one up "
    f"to {s(2 * usual.SHORT_MS)}, half as much again and {s(usual.SHORT_MS)} more up to "
    f"{m(usual.LONG_MS)}, a third more of what is longer than that ({hour()}); where the rhythm is "
    f"regular the pause and {s(usual.REGULAR_ROOM_MS)}",
    f"A wait that ends takes 1/{track.MEMORY} of its own length off",
    f"the waits of {s(waits.SHORT_WAIT_MS)} and more",
    f"how long it waits: {m(usual.UNSEEN_WAIT_MS)}, and {usual.UNLEARNT_WAIT_MS // 60_000} where "
    f"the last commit is older than {m(usual.BATCH_MS - usual.UNLEARNT_WAIT_MS)}; where it is "
    f"older than {m(usual.BATCH_MS)}, and nobody is in the group, {s(usual.DEAD_WAIT_MS)}",
    f"up to {waits.LONGEST_EXPECTED_MS // 3_600_000} h, counts as a pause",
    f"within {s(waits.MET_WAITING_MS)} of the first observation",
    f"takes {waits.READS_ON} times that long off a rest of more than "
    f"{round(waits.SHORT_REST_MS / 60_000)} min",
    f"What of a wait a rebalance takes, up to {s(presence.REBALANCE_MS)}, does not count",
    f"after {m(presence.THERE_MS)} with members (absences of {m(presence.EXCHANGED_MS)} aside): it "
    f"has patience for {s(usual.LEAST_WAIT_MS)} and 1½ x",
    f"less than {m(usual.NEW_MS)} before a wait began, and are there: {m(usual.UNLEARNT_WAIT_MS)}",
    f"worked for {m(usual.WORKED_MS)} without a long wait",
    f"until {m(waits.TRANSACTION_MS)} after the last advance",
    f"Up to {s(presence.REBALANCE_MS)} it is what a rebalance takes, and learnt at once (as "
    f"{s(waits.REBALANCE_LEARNT_MS)} at least)",
    f"up to {m(waits.LONGEST_PAUSE_MS)} it fades by 1/{waits.PAUSE_ACCIDENT} of the time elapsed",
    f"What is longer than {m(waits.CRASH_MS)} is no pause that may come at any time; but up to "
    f"{m(waits.LONGEST_OFTEN_MS)} it is where two begin within {waits.OFTEN} of its lengths, and "
    f"up to 2½ x a pause of {m(waits.LONGEST_LEFT_OUT_MS)} at most",
    f"differ by {clockwork.REGULAR_APART:.0%} at most".replace("%", " %"),
    f"and may be a third and {s(clockwork.ROOM_MS)} longer",
    f"{s(usual.REPEATING_MS)} of these are too much, or half more than it, once "
    f"{track.ENOUGH_WAITS} waits were seen",
    f"exponentially averaged over {m(learning.RATE_MS)}; what is usual over "
    f"{m(learning.USUAL_RATE_MS)}",
    f"more than {backlog.MORE_THAN_USUAL} x what is usually produced",
    f"for {m(backlog.LONGEST_BURST_MS)} it is neither growing nor late",
    f"over the longer of {s(usual.LAG_MS)} and 2 x *g*, and slow, over {usual.SLOWER} x that",
    f"the longer of {s(usual.LEAST_PAUSE_MS)} ({s(usual.LEAST_LEFT_MS)} once it is known what is "
    "left) and half of *g*",
    f"an average over an hour of up to {s(backlog.MOST_LEFT_MS)} each",
    f"(a time of more than {s(backlog.STOOD_STILL_MS)} and two mean pauses between commits",
    f"those of up to {m(backlog.SPELL_MS)} by 1/{backlog.SPELL_ACCIDENT}, others by "
    f"1/{track.MEMORY}",
    f"A second step back within {s(rewinds.AGAIN_MS)} of an advance",
    f"once it has advanced again and {s(rewinds.TOLD_MS)} are over",
    f"C and D do not hold, for {m(turns.LONGEST_TURN_MS)}, where",
    f"more than 1/{backlog.RISE} of explained, or it leaves half more than explained and has been "
    f"behind for {m(backlog.CREEPS_MS)}",
    f"a burst may last: {s(backlog.BURST_MS)}, {s(backlog.NEW_BURST_MS)} in the first "
    f"{m(backlog.NEW_MS)}, {s(backlog.NO_BURST_MS)} where what is usual has been known for "
    f"{m(backlog.KNOWN_MS)}",
    f"is late by more than {m(backlog.LATE_MS)} and three times the pause",
    f"as the measurement is not older than {m(facts.MEASURED_LATELY_MS)}",
    f"transactions that have been open for {s(log_causes.OPEN_FOR_LONG_MS)}",
]


@pytest.fixture(scope="module")
def page() -> str:
    text = (ROOT / "docs/evaluation.md").read_text()
    return " ".join(text.replace("\N{MULTIPLICATION SIGN}", "x").split())


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_page_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in page
