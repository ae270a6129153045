"""What is generated of docs/ and deploy/grafana/ says what the code says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from warren.contracts.topics import CATALOGUE
from warren.settings import Settings
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_core.judgement.causes.catalogue import ranked
from warren_docs import asyncapi, metrics_page, settings_page
from warren_docs.__main__ import ROOT, outdated
from warren_docs.told_groups import SITUATIONS
from warren_docs.written_texts import error_texts, template_texts

DOCS = ROOT / "docs"


def test_pages_and_dashboards_are_up_to_date() -> None:
    assert not outdated(ROOT), "run `make docs`"


def test_a_changed_page_is_noticed(tmp_path: Path) -> None:
    for path, text in outdated(tmp_path).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert not outdated(tmp_path)
    (tmp_path / "docs/topics.md").write_text("something else")
    assert list(outdated(tmp_path)) == [tmp_path / "docs/topics.md"]


def test_asyncapi_describes_every_topic_and_refers_to_schemas_that_exist() -> None:
    document = asyncapi.document()
    assert set(document["channels"]) == {topic.name for topic in CATALOGUE}
    references = re.findall(r'"(schemas/[^"]+)"', json.dumps(document))
    assert len(references) == len(CATALOGUE)
    for reference in references:
        json.loads((DOCS / reference).read_text())


def test_asyncapi_says_of_change_events_that_they_are_cloudevents() -> None:
    channels = asyncapi.document()["channels"]
    (message,) = channels["lag-status"]["messages"].values()
    assert message["contentType"] == "application/cloudevents+json"
    headers = message["headers"]["schema"]
    assert headers["required"] == ["content-type"]
    assert headers["properties"]["content-type"]["const"] == message["contentType"]
    (other,) = channels["lag"]["messages"].values()
    assert other["contentType"] == "application/json"
    assert "headers" not in other


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


def test_words_quote_every_root_cause_as_it_is_told() -> None:
    assert {known.name for known in ranked("root")} <= {each.cause for each in SITUATIONS}
    for situation in SITUATIONS:
        for partitions, told in situation.told.items():
            assert told.lag.cause is not None, situation.cause
            assert told.lag.cause.name == situation.cause, partitions


def test_texts_are_read_from_templates_and_errors(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<h1>Group {{ name }}</h1>"
        '{% if it %}<p title="Its lag">Lag <b>{{ lag }}</b> now</p>{% endif %}'
    )
    assert template_texts(page) == ["Its lag", "Group …", "Lag … now"]
    (tmp_path / "it.py").write_text(
        'def f(name):\n    raise SettingsError("clusters", f"no {name} is configured")\n'
    )
    assert error_texts(tmp_path) == ["clusters no … is configured"]
