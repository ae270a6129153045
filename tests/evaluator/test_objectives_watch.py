"""Objectives of an edited file are taken up while the worker runs."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from support.evaluator_process import Home
from support.freshness_events import freshness_event, late
from support.manual_clock import ManualClock
from support.offset_events import NOW
from support.waiting import eventually
from warren.contracts import StatusChangeEvent, group_key
from warren.settings_file import load_settings
from warren_core.objectives.limits import ObjectiveBook
from warren_evaluator.files_watch import ObjectivesWatch
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.records import Publication

OBJECTIVE = "[[objectives]]\nname = 'fresh'\nmax_freshness = 60\nfor = 0\n"


class Unused:
    """A table that nothing is written to."""

    def read(self, key: bytes) -> bytes | None:
        del key
        return None

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        raise NotImplementedError


async def _unused(item: Publication) -> Awaitable[Any]:
    del item
    return asyncio.sleep(0)


def test_other_objectives_are_taken_up_and_wrong_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text("")
    settings = load_settings(file)
    book = ObjectiveBook(settings.objectives)
    latenesses = Latenesses(Unused(), book, "w.lag-status", _unused, ManualClock(NOW))
    watch = ObjectivesWatch(file, settings, latenesses)

    def keys(text: str) -> list[str]:
        file.write_text(text)
        watch.look()
        watch.look()
        return [each.key for each in latenesses.book.limits_for("prod", "billing")]

    default = ["retention/lost_records", "retention/min_time_to_loss"]
    assert keys("") == default
    assert keys(OBJECTIVE) == [*default, "fresh/max_freshness"]
    assert keys(OBJECTIVE + "max_lag = -1\n") == [*default, "fresh/max_freshness"]
    assert keys("[filters]\n") == default


def test_a_running_worker_takes_them_up(broker: Any, unique: str, tmp_path: Path) -> None:
    file = tmp_path / "objectives.toml"
    file.write_text("")
    home = Home(broker.bootstrap, unique, tmp_path, {"WARREN_CONFIG": str(file)})
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        at = 0

        def told() -> list[tuple[str, str]]:
            """After one more measurement."""
            nonlocal at
            at += 1000
            event = freshness_event(at, late(90_000))
            sender.send_raw(group_key("prod", "billing"), event.to_bytes(), "freshness")
            sender.flush()
            changes = [StatusChangeEvent.from_bytes(r.value()) for r in home.records("lag-status")]
            return [(each.type.split(".")[2], each.data.status) for each in changes]

        file.write_text(OBJECTIVE)
        opened = [("freshness", "WARN")]
        eventually(lambda: told() == opened, timeout=120, message="it is late now")
        file.write_text("# none\n")
        closed = [*opened, ("freshness", "OK")]
        eventually(lambda: told() == closed, timeout=120, message="nobody asks any more")
