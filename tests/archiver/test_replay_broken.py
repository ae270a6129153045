"""Objectives asked of the past."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.freshness_events import WELL, freshness_event, late
from support.offset_events import MINUTE, NOW, commits
from warren.contracts import FreshnessEvent, OffsetEvent, group_key
from warren.errors import SettingsError
from warren.settings import EvaluationSettings, ObjectiveSettings
from warren_archiver.judging.groups import Source
from warren_archiver.replay.broken import GroupObjectives, Turn, broken
from warren_archiver.replay.what_if import objectives_in
from warren_core.evaluation import RuleBook
from warren_core.objectives.limits import ObjectiveBook

KEY = group_key("prod", "billing")


def _turns(
    asked: dict[str, object], events: list[FreshnessEvent | OffsetEvent | None]
) -> list[Turn]:
    objective = ObjectiveSettings.model_validate(
        {"name": "prompt", "for": 0, "clear_after": 0, **asked}
    )
    groups = GroupObjectives(ObjectiveBook([objective]), RuleBook(EvaluationSettings()))
    records = []
    for offset, event in enumerate(events):
        is_offsets = isinstance(event, OffsetEvent)
        value = None if event is None else event.to_bytes()
        records.append((not is_offsets, Source(0, offset, (NOW + 9 * MINUTE) * 1000, KEY, value)))
    return [turn for turn in groups.take(records) if turn.objective == "prompt"]


def test_a_limit_is_broken_from_the_event_that_shows_it_to_the_one_that_does_not() -> None:
    events: list[FreshnessEvent | OffsetEvent | None] = [
        freshness_event(0, WELL),
        freshness_event(MINUTE, late(200_000)),
        freshness_event(2 * MINUTE, late(300_000)),
        freshness_event(3 * MINUTE, WELL),
        freshness_event(4 * MINUTE, late(200_000)),
        None,
        freshness_event(20 * MINUTE, late(400_000)),
    ]
    turns = _turns({"max_freshness": 100}, events)
    assert [(turn.at - NOW, turn.is_broken) for turn in turns] == [
        (MINUTE, True),
        (3 * MINUTE, False),
        (4 * MINUTE, True),
        (9 * MINUTE, False),
        (20 * MINUTE, True),
    ]
    found = broken(turns, NOW + 5 * MINUTE, NOW + 30 * MINUTE)
    spans = [(one.since - NOW, one.until and one.until - NOW) for one in found]
    assert spans == [(4 * MINUTE, 9 * MINUTE), (20 * MINUTE, None)]
    assert "3m 20s late" in found[0].sentence
    assert broken(turns, NOW, NOW + MINUTE) == []


def test_a_lag_is_that_of_the_last_offset_event() -> None:
    near, far = commits(5, 500, step_ms=1000)
    events: list[FreshnessEvent | OffsetEvent | None] = [
        near,
        freshness_event(500, WELL),
        far,
        freshness_event(1500, WELL),
    ]
    (turn,) = _turns({"max_lag": 100}, events)
    assert (turn.limit, turn.at - NOW, turn.is_broken) == ("max_lag", 1500, True)


def test_objectives_are_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "wanted.toml"
    file.write_text('[[objectives]]\nname = "prompt"\nmax_lag = 7\n')
    assert [one.max_lag for one in objectives_in(file)] == [7]
    for wrong in ("", "[[objectives]]\nname = 1", "no toml"):
        file.write_text(wrong)
        with pytest.raises(SettingsError):
            objectives_in(file)
