"""When the next pass begins."""

from support.manual_clock import ManualClock
from warren_archiver.passes.parent import EARLY, FIRST_PAUSE, LONGEST_PAUSE, Schedule


def test_a_pass_begins_so_long_after_the_one_before_began() -> None:
    clock = ManualClock()
    schedule = Schedule(clock, first=30, every=3600)
    assert schedule.due_in == 30
    clock.advance(30)
    assert schedule.due_in == 0
    schedule.begin()
    clock.advance(100)
    schedule.end("")
    assert schedule.due_in == 3500
    clock.advance(3500)
    schedule.begin()
    clock.advance(4000)  # it takes longer than that: the next one begins at its end
    schedule.end("")
    assert schedule.due_in == 0


def test_one_that_fails_is_tried_again_after_pauses_that_grow() -> None:
    clock = ManualClock()
    schedule = Schedule(clock, first=0, every=3600)
    pauses = []
    for _ in range(9):
        schedule.begin()
        clock.advance(5000)  # however long it took
        schedule.end("no broker answers")
        pauses.append(schedule.due_in)
        clock.advance(schedule.due_in)
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-2:] == [LONGEST_PAUSE, LONGEST_PAUSE]
    assert schedule.problem == "no broker answers"
    schedule.begin()
    assert schedule.problem, "until it has gone well"
    schedule.end("")
    assert (schedule.problem, schedule.due_in) == ("", 3600)
    schedule.end("again")
    assert schedule.due_in == FIRST_PAUSE


def test_a_pause_is_never_longer_than_what_lies_between_passes() -> None:
    schedule = Schedule(ManualClock(), first=0, every=3)
    schedule.begin()
    schedule.end("no broker answers")
    assert schedule.due_in == 3


def test_a_new_archive_has_passes_after_0_5_15_and_60_minutes() -> None:
    clock, begun = ManualClock(), []
    start = clock.monotonic()
    schedule = Schedule(clock, first=0, every=3600, early=EARLY)
    for _ in range(6):
        clock.advance(schedule.due_in)
        begun.append((clock.monotonic() - start) / 60)
        schedule.begin()
        clock.advance(20)
        schedule.end("")
    assert begun == [0, 5, 15, 60, 120, 180]
