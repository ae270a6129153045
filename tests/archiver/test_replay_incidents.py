"""Incidents of two histories, compared."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Collection
from datetime import date

import pytest
from rich.console import Console
from warren.errors import SettingsError
from warren.settings import EvaluationOverride, EvaluationSettings, Settings
from warren_archiver.replay.incidents import Change, Incident, Pair, incidents, paired, renamed
from warren_archiver.replay.shown import render_suggestions
from warren_archiver.replay.suggestions import CANDIDATES, Word, candidates, suggestions
from warren_archiver.replay.tables import row_of
from warren_archiver.replay.what_if import changed, overridden
from warren_archiver.replay_catalogue import REPLAYED_INCIDENTS
from warren_archiver.report.period import Period
from warren_core.evaluation import RuleBook

MINUTE = 60_000
END = 100 * MINUTE
PERIOD = Period(0, END)
KEY = ("prod", "billing")


def _change(minute: int, status: str | None, opened: int | None = None) -> Change:
    return Change(KEY, minute * MINUTE, status, None, None if opened is None else opened * MINUTE)


def _incident(opened: int, closed: int | None) -> Incident:
    until = None if closed is None else closed * MINUTE
    return Incident(*KEY, opened * MINUTE, until, "ERR", None)


def _spans(found: list[Incident]) -> list[tuple[int, int | None, str]]:
    return [
        (one.opened_at // MINUTE, one.closed_at and one.closed_at // MINUTE, one.worst)
        for one in found
    ]


def test_an_incident_lasts_from_its_first_change_to_the_one_that_ends_it() -> None:
    changes = [
        _change(1, "WARN", 1),
        _change(3, "ERR", 1),
        _change(9, "OK"),
        _change(20, "ERR", 20),
        _change(30, None),
        _change(40, "WARN", 40),
        _change(101, "OK"),
    ]
    found = incidents(reversed(changes), 0, END)
    assert _spans(found) == [(1, 9, "ERR"), (20, 30, "ERR"), (40, None, "WARN")]
    assert _spans(incidents(changes, 10 * MINUTE, END))[0] == (20, 30, "ERR")
    assert _spans(incidents(changes, 25 * MINUTE, END))[0] == (20, 30, "ERR")


@pytest.mark.parametrize(
    ("published", "replayed"),
    [((1, 5), None), (None, (1, None)), ((1, None), (2, 5)), ((2, 5), (1, None))],
)
def test_a_row_is_null_only_where_the_table_says_so(
    published: tuple[int, int | None] | None, replayed: tuple[int, int | None] | None
) -> None:
    """Delta refuses all rows of a write that has another null."""
    pair = Pair(*(None if span is None else _incident(*span) for span in (published, replayed)))
    row = dict(zip(REPLAYED_INCIDENTS.names, row_of("run", pair, date(2026, 11, 21)), strict=True))
    null = {name for name, value in row.items() if value is None}
    assert null <= {field.name for field in REPLAYED_INCIDENTS.fields if field.null is not None}


def test_what_is_over_within_five_minutes_is_a_flap() -> None:
    assert [_incident(1, closed).is_flap for closed in (5, 6, None)] == [True, False, False]


def test_what_was_open_at_the_same_time_is_the_same_trouble() -> None:
    published = [_incident(1, 10), _incident(20, 22), _incident(50, None)]
    replayed = [_incident(3, 5), _incident(7, 9), _incident(30, 31), _incident(45, None)]
    found = [(pair.kind, pair.sooner_ms // MINUTE) for pair in paired(published, replayed, END)]
    assert found == [("later", -2), ("raised", 0), ("missed", 0), ("raised", 0), ("sooner", 5)]


def test_an_incident_that_was_open_at_the_start_is_known_by_its_name() -> None:
    replayed = [_incident(4, 8), _incident(9, 12)]
    found = renamed(replayed, [_incident(1, 20)], 5 * MINUTE)
    assert _spans(found) == [(1, 8, "ERR"), (9, 12, "ERR")]


def test_settings_are_changed_by_name() -> None:
    other = changed(Settings(), ["evaluation.intervals=20", "evaluation.policy=progress"])
    assert (other.evaluation.intervals, other.evaluation.policy) == (20, "progress")
    assert other.collector == Settings().collector


def test_a_policy_is_that_of_all_groups() -> None:
    """An override that names another one changes nothing but what else it says."""
    overrides = [
        {"groups": "^demo-", "policy": "burrow"},
        {"groups": "^a", "policy": "progress", "intervals": 20},
    ]
    settings = Settings.model_validate({"evaluation": {"overrides": overrides}})
    other = changed(settings, [], "progress").evaluation
    assert other.policy == "progress"
    assert [each.changes() for each in other.overrides] == [{"intervals": 20}]
    kept = changed(settings, ["evaluation.policy=progress"]).evaluation
    assert [each.policy for each in kept.overrides] == ["burrow", "progress"]


@pytest.mark.parametrize(
    "assignment", ["intervals=20", "evaluation.nothing=1", "evaluation.intervals=0", "evaluation"]
)
def test_what_is_no_setting_is_refused(assignment: str) -> None:
    with pytest.raises(SettingsError):
        changed(Settings(), [assignment])


def _of(group: str, *spans: tuple[int, int | None]) -> list[Incident]:
    return [Incident("prod", group, o * MINUTE, c and c * MINUTE, "WARN", None) for o, c in spans]


def test_the_smallest_change_is_suggested_that_silences_and_loses_nothing() -> None:
    flapping = [(10, 11), (20, 21), (30, 31)]
    told = [
        *_of("noisy", *flapping, (50, 70)),
        *_of("hopeless", *flapping),
        *_of("calm", (10, 11), (20, 21)),
    ]
    asked: list[set[str]] = []

    def judge(change: str, groups: Collection[tuple[str, str]]) -> list[Incident]:
        asked.append({group for _, group in groups})
        if change == CANDIDATES[0]:  # it is silent, but about everything
            return _of("hopeless", (10, 11))
        if change == CANDIDATES[1]:
            return [*_of("noisy", (53, 70)), *_of("hopeless", (10, 11))]
        return _of("hopeless", (10, 11))

    found = suggestions(told, judge, lambda _: "burrow", PERIOD)
    noisy, hopeless = sorted(found, key=lambda one: one.group)[::-1]
    assert (noisy.group, noisy.flaps, noisy.lasting) == ("noisy", 3, 1)
    assert (noisy.change, noisy.sooner_ms) == (CANDIDATES[1], -3 * MINUTE)
    assert (hopeless.group, hopeless.change) == ("hopeless", None)
    assert asked[:3] == [{"noisy", "hopeless"}, {"noisy", "hopeless"}, {"hopeless"}]
    written = tomllib.loads(noisy.override(CANDIDATES[1]))
    (override,) = EvaluationSettings.model_validate(written["evaluation"]).overrides
    assert (override.groups, override.intervals) == (["^noisy$"], 20)


def test_a_group_that_is_late_on_purpose_gets_the_word_of_its_owner() -> None:
    told = _of("delay", (10, 11), (20, 21), (30, 31), (100, 160))

    def judge(change: str, groups: Collection[tuple[str, str]]) -> list[Incident]:
        assert {group for _, group in groups} == {"delay"}
        silent = "expected_delay" in change and '"1m"' not in change
        return _of("delay", (104, 160)) if silent else [*told]

    (found,) = suggestions(told, judge, lambda _: "progress", PERIOD)
    assert (found.change, found.sooner_ms) == ('evaluation.expected_delay="5m"', -4 * MINUTE)
    written = tomllib.loads(found.override(found.change or ""))
    (override,) = EvaluationSettings.model_validate(written["evaluation"]).overrides
    assert override.expected_delay == 300


def test_the_owners_word_comes_with_what_it_silences_and_misses() -> None:
    """A job that is told each night, and a group that is late for most of the time: no flaps."""
    nights = [(60 * n, 60 * n + 30) for n in range(4)]
    told = [*_of("job", *nights), *_of("late", (5, None)), *_of("once", (10, 40))]

    def judge(change: str, groups: Collection[tuple[str, str]]) -> list[Incident]:
        assert {group for _, group in groups} <= {"job", "late"}
        if "expected_every" in change and '"1h"' not in change:
            return [*_of("job", nights[2], (500, 510)), *_of("late", (5, None))]
        return [] if "ignore" in change else told

    day = Period(0, 600 * MINUTE)
    found = {one.group: one for one in suggestions(told, judge, lambda _: "progress", day)}
    assert set(found) == {"job", "late"}
    assert (found["job"].change, found["late"].change) == (None, None)
    assert found["job"].words == (
        Word('evaluation.expected_every="24h"', 0, 3, 30 * MINUTE, 1),
        Word("evaluation.ignore=true", 0, 4, 30 * MINUTE, 0),
    )
    assert [word.missed for word in found["late"].words] == [1]
    output = io.StringIO()
    shown = render_suggestions(list(found.values()))
    Console(file=output, width=200, color_system=None).print(shown)
    said = output.getvalue()
    assert "# silences 0 of 0 flaps; misses 3 of 4 that lasted, the longest 30m; adds 1" in said
    written = tomllib.loads(said.partition("one for each group:\n")[2])
    overrides = EvaluationSettings.model_validate(written["evaluation"]).overrides
    assert [each.expected_every for each in overrides] == [86_400, None, None]
    assert [each.ignore for each in overrides] == [None, True, True]


def test_who_had_an_incident_that_lasted_is_never_to_be_ignored() -> None:
    flapping = [(10, 11), (20, 21), (30, 31)]

    def judge(change: str, groups: Collection[tuple[str, str]]) -> list[Incident]:
        return [] if "ignore" in change else [o for _, g in groups for o in _of(g, *flapping)]

    told = [*_of("noise", *flapping), *_of("both", *flapping, (50, 90))]
    found = {
        one.group: one.change for one in suggestions(told, judge, lambda _: "progress", PERIOD)
    }
    assert found == {"noise": "evaluation.ignore=true", "both": None}


def test_what_has_just_begun_at_the_end_neither_flaps_nor_lasts() -> None:
    """With `--last`, a group that flaps is in trouble at the end as often as not."""
    end = END // MINUTE
    told = _of("noisy", (10, 11), (20, 21), (30, 31), (end - 1, None))
    (found,) = suggestions(told, lambda *_: [], lambda _: "burrow", PERIOD)
    assert (found.flaps, found.lasting, found.change) == (3, 0, CANDIDATES[0])
    long = _of("noisy", (10, 11), (20, 21), (30, 31), (end - 6, None))
    (found,) = suggestions(long, lambda *_: [], lambda _: "burrow", PERIOD)
    assert (found.lasting, found.change) == (1, None)


def test_nothing_is_tried_that_changes_nothing() -> None:
    """`progress` has no windows, and no group becomes what it is."""
    told = [one for name in ("a", "b") for one in _of(name, (10, 11), (20, 21), (30, 31))]
    asked: dict[str, set[str]] = {"a": set(), "b": set()}

    def judge(change: str, groups: Collection[tuple[str, str]]) -> list[Incident]:
        for _, group in groups:
            asked[group].add(change)
        return told

    suggestions(told, judge, lambda key: "progress" if key[1] == "a" else "burrow", PERIOD)
    assert not any("intervals" in each or "progress" in each for each in asked["a"])
    assert asked["a"] == set(candidates("progress"))
    later = {each for each in CANDIDATES if "expected_delay" in each}
    assert asked["b"] == set(CANDIDATES) - {'evaluation.policy="burrow"'} - later


@pytest.mark.parametrize("candidate", CANDIDATES)
def test_every_candidate_is_a_setting_above_all_overrides(candidate: str) -> None:
    own = {"intervals": 99, "allowed_lag": 99, "policy": "progress"}
    overrides = [{"groups": "^a", "min_distance": 5, **own}]
    settings = Settings.model_validate({"evaluation": {"overrides": overrides}})
    before = RuleBook(settings.evaluation).rules_for("prod", "a").group
    after = RuleBook(overridden(settings, candidate).evaluation).rules_for("prod", "a").group
    ((name, value),) = tomllib.loads(candidate)["evaluation"].items()
    said = getattr(EvaluationOverride.model_validate({"groups": "^", name: value}), name)
    found = [
        getattr(rules, name) if hasattr(rules, name) else getattr(rules, f"{name}_ms") / 1000
        for rules in (before, after)
    ]
    assert found[0] != said == found[1]
    assert after.min_distance_ms == before.min_distance_ms == 5000
