"""docs/tables.md says what the catalogue says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from warren.reference.__main__ import outdated
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.reference import pages
from warren_archiver.silver.catalogue import TABLES as SILVER

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_tables_is_up_to_date() -> None:
    assert not outdated(DOCS, [SimpleNamespace(pages=pages)]), "run `make docs`"


def test_every_table_has_its_key_and_its_day_and_every_column_its_meaning() -> None:
    for table in (*SILVER, *GOLD):
        assert set(table.key) <= set(table.names), table.name
        assert table.names[-1] == "date", table.name
        assert len(set(table.names)) == len(table.names), table.name
        assert all(field.meaning for field in table.fields), table.name
