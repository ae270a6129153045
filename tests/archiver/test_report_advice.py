"""What a report says to do: nothing that its own figures contradict, lost records first."""

from datetime import date

import pytest
from bs4 import BeautifulSoup
from support.reports import END, MINUTE, group, incident, made, outlook
from warren.contracts import Finding
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import Report, Stamp, trouble
from warren_archiver.report.page import render
from warren_archiver.report.period import HOUR_MS

DOWN = {"cause": "no_members", "sentence": "nobody is in it", "action": "start its consumers"}
SOON = outlook(crosses_on=date(2026, 12, 1), earliest_on=date(2026, 11, 28), crosses_in_days=10)


def said(report: Report) -> list[str]:
    return [f"{each.group} {each.sentence}" for each in advice(report)]


def test_what_is_over_needs_nothing_done() -> None:
    over = incident(start=1, end=2, said_ms=END - MINUTE, **DOWN)
    assert said(made(group(err=1), incidents=(over,))) == [
        "billing Over. At 2026-11-21 09:59:00 UTC: nobody is in it. "
        "If it comes again: start its consumers."
    ]
    lasts = incident(start=1, end=None, said_ms=END - MINUTE, **DOWN)
    (told,) = said(made(group(err=9, status="ERR"), incidents=(lasts,)))
    assert "Still open." in told
    assert "What to do: start its consumers." in told


@pytest.mark.parametrize(
    ("idle", "todo"),
    [(2, "add partitions"), (0, "make it faster, or add partitions and consumers")],
)
def test_no_consumers_are_asked_for_where_some_are_idle(idle: int, todo: str) -> None:
    (told,) = said(made(group(outlook=SOON, idle_members=idle)))
    assert told.endswith(f"): {todo} before.")
    assert "fewer members" not in told


def test_who_has_caught_up_loses_nothing_by_its_trend() -> None:
    trend = outlook(days_until_loss=1.0)
    assert said(made(group(outlook=trend))) == []
    lasts = incident(start=1, end=None)
    told = said(made(group(err=1, status="ERR", outlook=trend), incidents=(lasts,)))
    assert "billing if it goes on so, retention deletes its records in 1d." in told


@pytest.mark.parametrize(
    ("status", "todo"), [("OK", "It keeps up again; raise"), ("ERR", "and fix the consumer")]
)
def test_who_keeps_up_again_is_not_to_be_mended(status: str, todo: str) -> None:
    (told,) = said(made(group(lost_records=64, status=status)))
    assert todo in told


def test_lost_records_come_first() -> None:
    groups = [group("long", err=5), group("lost", err=1, lost_records=3), group("well")]
    report = made(
        *sorted(groups, key=trouble),
        incidents=(incident("long", end=None, said_ms=END, **DOWN),),
        known=[Stamp("losses", END - 2 * HOUR_MS, "why")],
    )
    assert [each.group for each in report.groups] == ["lost", "long", "well"]
    assert [each.group for each in advice(report)] == ["lost", "long"]
    shown = BeautifulSoup(render(report), "html.parser")
    questions = [each.get_text() for each in shown.select("dt")[:2]]
    assert questions == ["What was lost until 08:00 UTC", "What happened until 10:00 UTC"]
    lost = shown.select(".figures div")[0].get_text(" ", strip=True)
    assert lost == "3 records lost unread known until 08:00 UTC"


def test_each_kind_of_figure_says_until_when_it_is_known() -> None:
    known = [Stamp("lateness", END - HOUR_MS, "why"), Stamp("rates", None, "why")]
    known += [Stamp("losses", END - 2 * HOUR_MS, "why"), Stamp("evaluations", END, None)]
    report = made(group(lost_records=None), known=known)
    shown = BeautifulSoup(render(report), "html.parser")
    heads = [cell.get_text(" ", strip=True) for cell in shown.select("table th[scope=col]")]
    assert heads[-3:] == [
        "Late, at most known until 09:00 UTC",
        "Lost known until 08:00 UTC",
        "Consumed not known",
    ]
    lost = shown.select(".figures div")[0].get_text(" ", strip=True)
    assert lost.endswith(" records lost unread known until 08:00 UTC")
    assert not lost[0].isdigit()
    all_known = BeautifulSoup(render(made(group(), is_closed=True)), "html.parser")
    assert "All is known to its end." in all_known.select("header p")[0].get_text()


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ("kafka:9092", "kafka-topics --bootstrap-server kafka:9092"),
        ("", '"$BOOTSTRAP" ($BOOTSTRAP: the bootstrap servers of prod)'),
    ],
)
def test_commands_have_the_clusters_address(servers: str, said: str) -> None:
    action = 'Look: kafka-topics --bootstrap-server "$BOOTSTRAP"'
    loss = Finding(name="records_lost", sentence="9 are gone", action=action)
    found = incident(end=None, action=action, also=(loss,)).addressed(servers)
    for each in (found, *found.also):
        assert each.action is not None
        assert each.action.endswith(said)
