"""Sentences with counts: the line above the list, its announcement, a topic's readers."""

import itertools
import re

import pytest
from warren_api.pages.headline import Part, Readers, Standings, headline, readers, spoken

NOW = 1_795_244_400_000
COUNTS = (0, 1, 2, 1_200)
SINGULARS = re.compile(r"\b1 (groups|warnings|clusters|more lose|lose|are|keep|need)\b")
PLURALS = re.compile(
    r"(?<![\d,])(0|2|1,200)( group\b| warning\b| cluster\b| more loses| loses| is\b| keeps|"
    r" needs)(?!s)"
)
NONE = Standings(
    groups=9,
    of_all=9,
    urgent=0,
    handled=0,
    warned=0,
    losing=0,
    endangered=0,
    first_loss_at=None,
    unknown=0,
    away=(),
    clusters=3,
)


def said(now: int = NOW, **counts: object) -> str:
    parts = headline(NONE._replace(**counts), now)  # type: ignore[arg-type]
    return " · ".join(f"{p.words}{'' if p.at is None else f' {p.at - now} ms'}" for p in parts)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({}, "No group needs action"),
        ({"urgent": 1}, "1 needs action"),
        ({"urgent": 4}, "4 need action"),
        ({"warned": 1}, "No group needs action · 1 warning"),
        ({"urgent": 30, "warned": 30}, "30 need action · 30 warnings"),
        ({"urgent": 1, "losing": 1}, "1 needs action · 1 losing data"),
        (
            {"urgent": 4, "endangered": 1, "first_loss_at": NOW, "handled": 2},
            "4 need action · 1 about to lose data (now) · 2 handled",
        ),
        (
            {"urgent": 2, "endangered": 2, "first_loss_at": NOW - 9},
            "2 need action · 2 about to lose data (the first now)",
        ),
        (
            {"urgent": 2, "endangered": 1, "first_loss_at": NOW + 5},
            "2 need action · 1 loses data at 5 ms",
        ),
        (
            {"urgent": 2, "losing": 1, "endangered": 1, "first_loss_at": NOW + 5, "warned": 3},
            "2 need action · 1 losing data · 1 more at 5 ms · 3 warnings",
        ),
        (
            {"urgent": 3, "losing": 1, "endangered": 2, "first_loss_at": NOW + 5},
            "3 need action · 1 losing data · 2 more, the first at 5 ms",
        ),
        ({"endangered": 1}, "No group needs action · 1 about to lose data"),
        ({"unknown": 2}, "No group needs action · 2 unknown"),
        (
            {"unknown": 2, "away": [("eu\n", "refused")]},
            "No group needs action · 2 unknown",
        ),
        (
            {"unknown": 9},
            "No data: the status of 9 groups is unknown",
        ),
        (
            {"groups": 1, "of_all": 1, "unknown": 1},
            "No data: the status of 1 group is unknown",
        ),
        ({"groups": 1, "urgent": 1}, "1 of 9 groups found · 1 needs action"),
        ({"groups": 0, "of_all": 1}, "0 of 1 group found"),
        (
            {"unknown": 9, "away": [("a", "unreachable")], "clusters": 1},
            "No data: the cluster is unreachable",
        ),
        (
            {"unknown": 9, "away": [("a", "failing"), ("b", "unreachable")], "clusters": 2},
            "No data: every cluster is unreachable",
        ),
    ],
)
def test_how_all_groups_stand(counts: dict[str, object], expected: str) -> None:
    assert said(**counts) == expected


def test_every_combination_of_counts_is_a_whole_sentence() -> None:
    names = ("urgent", "handled", "warned", "losing", "endangered", "unknown")
    for numbers in itertools.product(COUNTS, repeat=len(names)):
        for first_loss_at in (None, NOW, NOW + 60_000):
            given = dict(zip(names, numbers, strict=True))
            of = NONE._replace(groups=10_000, of_all=20_000, first_loss_at=first_loss_at, **given)
            parts = headline(of, NOW)
            words = " · ".join(part.words for part in parts)
            assert not SINGULARS.search(words), words
            assert not PLURALS.search(words), words
            assert "None" not in words
            assert all(part.words == part.words.strip() for part in parts)
            is_timed = any(part.at is not None for part in parts)
            assert is_timed == bool(given["endangered"] and first_loss_at == NOW + 60_000)
            told = bool(given["warned"])
            assert (f"{given['warned']:,} warning" in words) == told, "also beside what is urgent"
            for name in ("losing", "handled", "unknown"):
                assert not given[name] or f"{given[name]:,} " in words


def test_a_part_may_end_with_a_time() -> None:
    (_, part) = headline(NONE._replace(endangered=1, first_loss_at=NOW + 1), NOW)
    assert part == Part("1 loses data at", NOW + 1)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ((0, 0, 0, 0), "0 groups with errors, 0 with warnings, 0 OK"),
        ((1, 1, 0, 1), "1 group with errors, 1 with warnings, 1 OK"),
        (
            (2, 0, 1, 1_200),
            "2 groups with errors, 0 with warnings, 1 of unknown status, 1,200 OK",
        ),
    ],
)
def test_what_is_read_aloud(totals: tuple[int, int, int, int], expected: str) -> None:
    assert spoken(dict(zip(("ERR", "WARN", "UNKNOWN", "OK"), totals, strict=True))) == expected


@pytest.mark.parametrize(
    ("groups", "failing", "unknown", "expected"),
    [
        (1, 1, 0, None),
        (4, 0, 0, None),
        (2, 2, 0, "All 2 groups are failing: look at its producers and brokers first"),
        (
            2,
            1,
            0,
            "1 of 2 groups is failing: the other keeps up; the topic is fine, the consumer is not",
        ),
        (
            4,
            2,
            0,
            "2 of 4 groups are failing: the other 2 keep up; the topic is fine, the consumers "
            "are not",
        ),
        (
            4,
            1,
            1,
            "1 of 4 groups is failing: 2 keep up, 1 is unknown; the topic is fine, the consumer "
            "is not",
        ),
        (
            4,
            1,
            2,
            "1 of 4 groups is failing: 1 keeps up, 2 are unknown; the topic is fine, the consumer "
            "is not",
        ),
        (2, 1, 1, "1 of 2 groups is failing: 1 is unknown"),
        (4, 2, 2, "2 of 4 groups are failing: 2 are unknown"),
    ],
)
def test_what_a_topics_readers_say_of_it(
    groups: int, failing: int, unknown: int, expected: str | None
) -> None:
    found = readers(groups, failing, unknown)
    assert (found and f"{found.failing}: {found.so}") == expected
    assert found is None or found.are_all == (groups == failing)
    assert found is None or isinstance(found, Readers)
