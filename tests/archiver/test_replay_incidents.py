"""Incidents of two histories, compared."""

from datetime import date

import pytest
from warren.errors import SettingsError
from warren.settings import Settings
from warren_archiver.replay.incidents import Change, Incident, Pair, incidents, paired, renamed
from warren_archiver.replay.replay import changed, row_of
from warren_archiver.replay_catalogue import REPLAYED_INCIDENTS

MINUTE = 60_000
END = 100 * MINUTE
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
