"""Few tables, where all of them are not what a test is about: each pass over them takes minutes."""

import pytest
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.catalogue import PROGRESS, STATUS
from warren_archiver.gold.plan import STEPS
from warren_archiver.gold.units import Unit
from warren_archiver.lake.table import Table
from warren_archiver.layers import LAYERS
from warren_archiver.silver import catalogue

STATUS_HOURS = STATUS[Unit.HOUR]
OF_OFFSETS = (
    catalogue.POSITIONS,
    catalogue.PARTITION_MINUTES,
    catalogue.GROUP_MINUTES,
    catalogue.EVALUATIONS,
    catalogue.EVALUATION_STATES,
    catalogue.EVALUATION_PROGRESS,
    catalogue.QUARANTINE,
)
"""Of silver, what is written of offset events."""


def only_status_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of gold."""
    steps = [step for step in STEPS if step.table is STATUS_HOURS]
    monkeypatch.setattr(gold_module, "STEPS", steps)
    monkeypatch.setattr(gold_module, "TABLES", (STATUS_HOURS, PROGRESS))


def only_silver(monkeypatch: pytest.MonkeyPatch, *tables: Table) -> None:
    """Create, check and keep up these; others are written all the same, where they are there."""
    monkeypatch.setattr(catalogue, "TABLES", tables)
    monkeypatch.setitem(LAYERS, "silver", tables)
