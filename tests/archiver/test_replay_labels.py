"""How well incidents fit what was really wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from warren.errors import SettingsError
from warren_archiver.replay.incidents import Incident
from warren_archiver.replay.labels import Label, labels_in, scored
from warren_archiver.replay.shown import render_scores, scores_as_json
from warren_archiver.report.period import Period
from warren_local.demo.groups import GROUPS

MINUTE = 60_000
HOUR = Period(0, 60 * MINUTE)
A, B = ("c", "a"), ("c", "b")


def label(group: str, start: int | None = None, end: int | None = None) -> Label:
    minutes = {"from": start, "to": end}
    given = {k: str(v * MINUTE) for k, v in minutes.items() if v is not None}
    return Label.of({"group": group, **given}, 1)


def incident(key: tuple[str, str], opened: int, closed: int | None) -> Incident:
    until = None if closed is None else closed * MINUTE
    return Incident(*key, opened * MINUTE, until, "ERR", None)


def test_incidents_are_found_false_late_or_missing() -> None:
    labels = [label("^a$", 10, 20), label("^a$", 40, 50), label("^b$", 30, 40)]
    told = [
        incident(A, 12, 22),
        incident(A, 25, 26),  # false
        incident(B, 31, 33),
        incident(B, 35, None),  # a flap, and it goes on when all is well
    ]
    found = scored(told, [A, B], labels, HOUR)
    assert (found.faults, found.found, found.incidents, found.false) == (3, 2, 4, 1)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert found.f1 == pytest.approx(2 / 3)
    assert found.delay_median_ms == 1.5 * MINUTE
    assert found.told == pytest.approx((8 + 2 + 5) / 30)
    assert found.flaps_per_100_h == pytest.approx(100)
    shown = scores_as_json(found, found)
    assert shown["published"] == shown["replayed"]
    assert render_scores(found, found).row_count == 2


def test_what_was_wrong_before_the_period_counts_from_its_beginning() -> None:
    """As does an incident that was open then; faults that overlap are one."""
    period = Period(20 * MINUTE, 60 * MINUTE)
    labels = [label("a", 10, 30), label("a", 25, 45), label("a", 1, 5)]
    found = scored([incident(A, 5, None)], [A], labels, period)
    assert (found.faults, found.found, found.false) == (1, 1, 0)
    assert (found.delay_median_ms, found.told) == (0, 1.0)


def test_nothing_wrong_and_nothing_told_is_right() -> None:
    found = scored([], [A, B], [label("z")], HOUR)
    assert (found.precision, found.recall, found.told) == (1.0, 1.0, 1.0)
    assert found.delay_median_ms is None
    missed = scored([], [A], [label("a")], HOUR)
    assert (missed.recall, missed.f1, missed.told) == (0.0, 0.0, 0.0)


def test_labels_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "labels.toml"
    file.write_text(
        '[[fault]]\ngroup = "^a$"\nfrom = 1970-01-01T00:10:00Z\nto = "1970-01-01T00:20:00"\n'
        '[[fault]]\ncluster = "prod"\ngroup = "b"\nwhat = "a bad release"\n'
    )
    first, second = labels_in(file)
    assert (first.start_ms, first.end_ms) == (10 * MINUTE, 20 * MINUTE)
    assert first.matches(("any", "a"))
    assert not second.matches(("test", "b"))
    assert second.matches(("prod-1", "abc"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no [[fault]]"),
        ("fault = 5", "has no [[fault]]"),
        ("[[fault]]\ncluster = 'a'", "names no group"),
        ("[[fault]]\ngroup = 'a'\nform = 5", "'form', which is none of cluster, from"),
        ("[[fault]]\ngroup = '('", "no regular expression"),
        ("[[fault]]\ngroup = 'a'\nfrom = 'noon'", "is no time such as"),
        ("[[fault]]\ngroup = 'a'\nfrom = 9\nto = 8", "ends before it begins"),
        ("[[fault", "labels.toml"),
    ],
)
def test_what_is_no_label_is_said(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "labels.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as refused:
        labels_in(file)
    assert said in str(refused.value)
    assert "--labels" in str(refused.value)


def test_the_demos_groups_are_labelled_as_they_behave(pytestconfig: pytest.Config) -> None:
    file = pytestconfig.rootpath / "deploy/local/warren_local/demo/labels.toml"
    labels = labels_in(file)
    for group in GROUPS:
        wrong = any(label.matches(("demo", group.name)) for label in labels)
        assert wrong == (group.partition_status != "OK"), group.name
