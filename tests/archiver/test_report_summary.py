"""The summary's words, for none, one and many; what is not known is said to be so."""

from dataclasses import replace

import pytest
from support.reports import (
    END,
    NASTY,
    crowded,
    group,
    incident,
    made,
    of_two_clusters,
    troubled,
)
from warren.contracts import Finding
from warren_archiver.report import plots
from warren_archiver.report.group_report import Budget, Report, Stamp
from warren_archiver.report.period import DAY_MS, HOUR_MS, Period
from warren_archiver.report.summary import LONGEST_NAME, summary

LOST, HAPPENED, HIT = range(3)
WELL, BAD = group("mail"), group("billing", err=3)
OPEN = incident(end=None)
LOSS = Finding(name="records_lost", sentence="64 records are gone", action=None)
MISSED = Budget("prod", "billing", "on-time", "max_lag", 0.99, 0.98, -1.0)
LATE = Stamp("losses", END - HOUR_MS, "nothing later")
SILENT = group(lost_records=None, late_max_ms=None)
UNJUDGED = group("new", status=None, evaluations=0, unknown_ms=10 * HOUR_MS, lag_max=None)
BEGUN = END - 9 * HOUR_MS
NO_VERDICTS = Stamp("evaluations", None, "none before", END + HOUR_MS)
NO_CHANGES = Stamp("incidents", None, "none before", END + HOUR_MS)


@pytest.mark.parametrize(
    ("report", "question", "said"),
    [
        (made(), 0, "No consumer group was judged in this period."),
        (
            made(WELL),
            HAPPENED,
            "The only consumer group was well all the time. There was no incident.",
        ),
        (
            made(WELL, group("web")),
            HAPPENED,
            "All 2 consumer groups were well all the time. There was no incident.",
        ),
        (
            made(group(unknown_ms=2 * HOUR_MS)),
            HAPPENED,
            "The only consumer group was well whenever judged, 80% of the time. "
            "There was no incident.",
        ),
        (made(BAD), HAPPENED, "The only consumer group was in trouble. There was no incident."),
        (
            made(BAD, WELL, incidents=(incident(),)),
            HAPPENED,
            "1 of 2 consumer groups was in trouble; the other one was well all the time. "
            "1 incident began. 1 ended, after 1 hour. A notification went out after 4 seconds.",
        ),
        (
            made(
                *(BAD, group("web", warn=1), WELL, group("x")),
                incidents=(incident(start=-1, end=1), OPEN),
            ),
            HAPPENED,
            "2 of 4 consumer groups were in trouble; the other 2 were well all the time. "
            "1 incident began and 1 incident went on from before. 1 ended, after 2 hours. "
            "A notification went out after 4 seconds.",
        ),
        (
            made(BAD, incidents=(incident(notified_ms=None), incident(start=4, end=4.5))),
            HAPPENED,
            "The only consumer group was in trouble. 2 incidents began. 2 ended, after 45 minutes "
            "on average. A notification went out after 4 seconds, for 1 of the 2 that began.",
        ),
        (
            made(BAD, incidents=(incident(notified_ms=None, end=None),), budgets=[MISSED]),
            HAPPENED,
            "The only consumer group was in trouble. 1 incident began. No notification of it is on "
            "record. The objective “on-time” of billing was missed over 30 days: kept 98.00% of "
            "the time, promised was 99.00%.",
        ),
        (made(WELL), HIT, "No consumer group."),
        (
            made(WELL, budgets=[replace(MISSED, attainment=0.99)]),
            HAPPENED,
            "The only consumer group was well all the time. There was no incident.",
        ),
        (made(BAD, WELL), HIT, "billing (3 hours) was in trouble."),
        (
            of_two_clusters(),
            HIT,
            "billing (prod) (1 hour) and billing (stage) (1 hour) were in trouble.",
        ),
        (
            made(*(group(f"g{n}", warn=n) for n in range(1, 6)), incidents=(OPEN, incident("x"))),
            HIT,
            "g5 (5 hours), g4 (4 hours), g3 (3 hours) and 2 more were in trouble. "
            "billing and x had incidents, too. "
            "One group had an open incident at the end: billing, since 01:00 UTC.",
        ),
        (
            made(BAD, incidents=(OPEN, incident("x", start=2, end=None))),
            HIT,
            "billing (3 hours) was in trouble. x had an incident, too. "
            "2 groups had open incidents at the end, the oldest of billing, since 01:00 UTC.",
        ),
        (
            made(BAD, incidents=(incident(),)),
            HIT,
            "billing (3 hours) was in trouble. No incident was open at the end.",
        ),
        (
            made(BAD, WELL, UNJUDGED),
            HAPPENED,
            "1 of 3 consumer groups was in trouble; 1 was well all the time; the other one was not "
            "judged. There was no incident.",
        ),
        (
            made(WELL, UNJUDGED, known=[Stamp("incidents", END, None, BEGUN)]),
            HAPPENED,
            "1 of 2 consumer groups was well all the time; the other one was not judged. "
            "There was no incident from 01:00 UTC on.",
        ),
        (
            made(UNJUDGED, known=[NO_VERDICTS, NO_CHANGES]),
            HAPPENED,
            "No evaluation of this period is archived: the archive begins with 11:00 UTC. "
            "No incident of this period is archived: the archive begins with 11:00 UTC.",
        ),
        (made(UNJUDGED), HIT, "It is not known."),
        (made(WELL), LOST, "No record was deleted before it was read."),
        (
            made(group(lost_records=1), known=[Stamp("losses", END, None, BEGUN)]),
            LOST,
            "Retention deleted 1 record before billing had read it; nobody can get it back. "
            "It is not known whether more were lost before 01:00 UTC.",
        ),
        (
            made(group(lost_records=None), known=[Stamp("losses", END - HOUR_MS, "later", BEGUN)]),
            LOST,
            "It is not known whether records were lost before 01:00 UTC or after 09:00 UTC.",
        ),
        (
            made(group(lost_records=1)),
            LOST,
            "Retention deleted 1 record before billing had read it; nobody can get it back.",
        ),
        (
            made(group("a", lost_records=1), group("b", lost_records=2_000), WELL),
            LOST,
            "Retention deleted 2,001 records before b and a had read them; "
            "nobody can get them back.",
        ),
        (made(SILENT), LOST, "It is not known whether records were lost."),
        (
            made(SILENT, known=[LATE]),
            LOST,
            "It is not known whether records were lost.",
        ),
        (
            made(group(lost_records=None), known=[LATE]),
            LOST,
            "It is not known whether records were lost after 09:00 UTC.",
        ),
        (
            made(SILENT, WELL, incidents=(incident(also=(LOSS,)),)),
            LOST,
            "An incident of billing says: 64 records are gone. "
            "It is not known whether records of 1 group were lost.",
        ),
        (
            made(SILENT, incidents=tuple(incident(name, also=(LOSS,)) for name in "ab")),
            LOST,
            "Incidents of a and b say that records were lost. "
            "It is not known whether records were lost.",
        ),
    ],
)  # fmt: skip
def test_a_summary_answers_in_whole_sentences(report: Report, question: int, said: str) -> None:
    assert " ".join(summary(report)[question].sentences) == said


def test_what_has_no_room_is_counted() -> None:
    answers = summary(crowded())
    assert "and 9 more were in trouble" in answers[HIT].sentences[0]
    named = answers[HIT].sentences[0].split(" (")[0]
    assert len(named) == LONGEST_NAME


def test_what_goes_on_is_said_up_to_now() -> None:
    asked = [[each.question for each in summary(made(WELL, is_closed=it))] for it in (0, 1)]
    assert [each[1] for each in asked] == ["What happened until 10:00 UTC", "What happened"]


def test_a_plot_says_its_figures() -> None:
    report = troubled()
    lags = {plot.name: plot.said for plot in plots.lags(report)}
    assert lags[NASTY] == (
        f"Lag of {NASTY}: median 5 records, largest 2,360 records, reached after 09:50 UTC; "
        "2,360 records at the end. 1 incident, open for 7h."
    )
    rows = [row.said for row in plots.timeline(report)]
    assert rows == [f"{NASTY}: 1 incident, open for 7h", "shipping: 1 incident, open for 1h"]


def test_a_plot_has_a_gap_where_nobody_judged() -> None:
    steady, broken = (plot.area for plot in plots.lags(troubled()))
    assert (steady.count("M"), broken.count("M")) == (1, 2)
    assert "H15 V100Z M33.333 100" in broken


@pytest.mark.parametrize(
    "length", [1_000, HOUR_MS, 7 * HOUR_MS, DAY_MS, 9 * DAY_MS, 40_000 * DAY_MS]
)
def test_an_axis_has_some_ticks_that_differ(length: int) -> None:
    texts = [tick.text for tick in plots.ticks(Period(END - 7, END - 7 + length))]
    assert len(texts) <= plots.MOST_TICKS
    assert length < HOUR_MS or len(set(texts)) == len(texts) >= 3
