"""Few tables, where all of them are not what a test is about: each pass over them takes minutes."""

import pytest
from warren_archiver.gold import catalogue as gold
from warren_archiver.lake.table import Table
from warren_archiver.layers import LAYERS
from warren_archiver.refining import refine
from warren_archiver.refining.models import MODELS
from warren_archiver.silver import catalogue

OF_OFFSETS = (catalogue.PARTITION_MINUTES, catalogue.GROUP_MINUTES, catalogue.QUARANTINE)
"""What is made of offset events."""


def only(monkeypatch: pytest.MonkeyPatch, *tables: Table) -> None:
    """Create, check and keep up these."""
    for layer, of in (("silver", catalogue), ("gold", gold)):
        own = tuple(each for each in of.TABLES if each in tables or each is gold.PROGRESS)
        monkeypatch.setattr(of, "TABLES", own)
        monkeypatch.setitem(LAYERS, layer, own)
    monkeypatch.setattr(refine, "MODELS", [each for each in MODELS if each.table in tables])
