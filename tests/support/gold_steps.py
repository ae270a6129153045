"""Of gold one table alone, where all of it is not what a test is about: that takes minutes."""

from __future__ import annotations

import pytest
from warren_archiver.check import gold_check
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.catalogue import PROGRESS, STATUS
from warren_archiver.gold.plan import STEPS
from warren_archiver.gold.units import Unit

STATUS_HOURS = STATUS[Unit.HOUR]


def only_status_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step for step in STEPS if step.table is STATUS_HOURS]
    monkeypatch.setattr(gold_module, "STEPS", steps)
    monkeypatch.setattr(gold_module, "TABLES", (STATUS_HOURS, PROGRESS))
    monkeypatch.setattr(gold_check, "STEPS", steps)
