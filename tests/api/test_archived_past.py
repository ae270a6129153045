"""History of more than a day ago: from the archive's minutes, in one answer with what is newer."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api.served_api import NOW, Api
from support.lake_files import LATE, MOVES, OF_TOPIC, WHO, write_table
from support.manual_clock import ManualClock
from support.report_lake import moment
from warren.contracts import MINUTE_MS
from warren.settings import ArchiverSettings
from warren_api.model import archive
from warren_api.model.archive import Archive

HOUR, DAY = 60 * MINUTE_MS, 24 * 60 * MINUTE_MS
THIS = NOW - NOW % HOUR


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days until now, a row each quarter of an hour: a lag of 7, and 100 records produced."""
    path = tmp_path_factory.mktemp("lake")
    groups, late, topics = [], [], []
    for at in range(THIS - 3 * DAY, THIS, HOUR // 4):
        minute = {"cluster": "demo", "minute": moment(at)}
        groups.append(minute | {"group": "billing", "lag": 7, "produced": 100, "consumed": 99})
        told = {"topic": "orders", "late_max_ms": 5_000, "time_to_loss_ms": HOUR}
        late.append(minute | {"group": "billing"} | told)
        topics.append(minute | {"topic": "orders", "produced": 100})
    write_table(path, "silver/group_minutes", WHO | MOVES, groups)
    write_table(path, "silver/lateness_minutes", WHO | LATE, late)
    write_table(path, "silver/topic_minutes", OF_TOPIC, topics)
    return path


@pytest.fixture
def archived(lake: Path) -> Iterator[Api]:
    """Of the last hour the API knows better: a lag of 3, and what it was."""
    kept = Archive(ArchiverSettings(path=str(lake)))
    api = Api(archive=kept)
    api.put("billing")
    for n in range(1, 61):
        api.remember("billing", THIS - n * MINUTE_MS, lag=3, lag_max=3)
    yield api
    kept.close()


def history(api: Api, path: str, **query: int) -> dict[str, Any]:
    answer = api.get(f"/api/v1/{path}/history", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_three_days_are_one_answer(archived: Api) -> None:
    asked = {"from": THIS - 3 * DAY, "to": THIS, "step": HOUR}
    found = history(archived, "groups/demo/billing", **asked)
    assert found["at"] == list(range(THIS - 3 * DAY, THIS, HOUR))
    assert found["lag"][:48] == [7] * 48
    assert found["produced"][:48] == [400] * 48
    assert found["late_ms"][:48] == [5_000] * 48
    assert found["time_to_loss_ms"][:48] == [HOUR] * 48
    assert found["ok_ms"][:48] == [None] * 48
    assert found["lag"][-1] == 3
    assert found["ok_ms"][-1] == 60 * 60_000
    assert found["doubts"] == []


@pytest.mark.parametrize("passed", [1, 25, 59])
def test_where_the_model_begins_within_a_step_there_is_no_dip(lake: Path, passed: int) -> None:
    """The model has the end only of the first step of the day: the archive has all of it."""
    now = THIS + passed * MINUTE_MS
    kept = Archive(ArchiverSettings(path=str(lake)))
    api = Api(archive=kept, clock=ManualClock(now + 1))
    api.put("billing")
    for at in range(now - DAY, now, MINUTE_MS):
        moved = {} if at % (HOUR // 4) else {"produced": 100, "consumed": 99}
        api.remember("billing", at, **({"lag": 7, "produced": 0, "consumed": 0} | moved))
    asked = {"from": THIS - 2 * DAY, "to": THIS, "step": HOUR}
    for path, figures in (
        ("groups/demo/billing", {"produced": 400, "consumed": 396, "lag": 7}),
        ("topics/demo/orders", {"produced": 400}),
    ):
        found = history(api, path, **asked)
        assert {name: set(found[name]) for name in figures} == {n: {f} for n, f in figures.items()}
    kept.close()


def test_a_topics_past(archived: Api) -> None:
    asked = {"from": THIS - 2 * DAY, "to": THIS - DAY, "step": 6 * HOUR}
    found = history(archived, "topics/demo/orders", **asked)
    assert set(found["produced"]) == {2400}
    assert set(found["lag_max"]) == {None}


def test_the_last_day_needs_no_archive(archived: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Archive, "_points", lambda *_: pytest.fail("it was asked"))
    found = history(archived, "groups/demo/billing", **{"from": NOW - 23 * HOUR, "to": NOW})
    assert found["lag"][0] is None


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    table = tmp_path / "silver/group_minutes/_delta_log"
    table.mkdir(parents=True)
    (table / "00000000000000000000.json").write_text("no json")
    (table.parent / "part-0.parquet").write_text("rows")
    api = Api(archive=Archive(ArchiverSettings(path=str(tmp_path))))
    api.put("billing")
    asked = {"from": THIS - 2 * DAY, "to": THIS - DAY, "step": HOUR}
    found = history(api, "groups/demo/billing", **asked)
    assert found["lag"] == [None] * 24
    (doubt,) = found["doubts"]
    assert doubt.startswith("the archive cannot be read: ")


def test_who_would_wait_for_long_does_without(
    archived: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "TURN_SECONDS", 0.01)
    asked = {"from": THIS - 2 * DAY, "to": THIS - DAY, "step": HOUR}
    with archived.context.archive._turn:
        found = history(archived, "groups/demo/billing", **asked)
    assert found["doubts"] == [archive.BUSY]


def test_readers_of_the_lake_need_not_be_installed(
    archived: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "warren.history.history", None)
    asked = {"from": THIS - 2 * DAY, "to": THIS - DAY, "step": HOUR}
    found = history(archived, "groups/demo/billing", **asked)
    assert found["doubts"] == [archive.MISSING]
