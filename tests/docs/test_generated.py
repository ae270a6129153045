"""What is generated of docs/ and deploy/grafana/ says what the code says."""

import re
from pathlib import Path

import duckdb
from warren.settings import Settings
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_docs import metrics_page, settings_page
from warren_docs.__main__ import ROOT, outdated


def test_pages_and_dashboards_are_up_to_date() -> None:
    assert not outdated(ROOT), "run `make docs`"


def test_a_changed_page_is_noticed(tmp_path: Path) -> None:
    for path, text in outdated(tmp_path).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert not outdated(tmp_path)
    (tmp_path / "docs/topics.md").write_text("something else")
    assert list(outdated(tmp_path)) == [tmp_path / "docs/topics.md"]


def test_every_setting_is_documented() -> None:
    page = settings_page.pages()["settings.md"]
    for name in Settings.model_fields:
        assert re.search(rf"## `\[+{name}", page), name
    assert "`WARREN_API__PORT`" in page
    assert "| `WARREN_REDIS__URL` | secret |" in page


def test_every_metric_has_its_type_and_meaning() -> None:
    rows = [
        line.split("|")
        for line in metrics_page.pages()["metrics.md"].splitlines()
        if line.startswith("| `")
    ]
    assert rows
    for _, name, kind, _, meaning, _ in rows:
        assert kind.strip() in {"counter", "gauge", "histogram", "untyped"}, name
        assert meaning.strip(), name


def test_every_table_has_its_key_and_its_day_and_every_column_its_meaning() -> None:
    for table in (*SILVER, *GOLD):
        assert set(table.key) <= set(table.names), table.name
        assert table.names[-1] == "date", table.name
        assert len(set(table.names)) == len(table.names), table.name
        assert all(field.meaning for field in table.fields), table.name


def test_no_more_columns_have_to_be_quoted_than_are_known() -> None:
    names = {name for table in (*SILVER, *GOLD) for name in table.names}
    quoted = set[str]()
    for name in names:
        try:
            duckdb.execute(
                f'SELECT {name} FROM (SELECT 1 AS "{name}") AS t ORDER BY {name}'
            ).fetchall()
        except duckdb.ParserException:
            quoted.add(name)
    assert quoted <= {"at", "from", "group", "left", "limit", "offset", "to"}
