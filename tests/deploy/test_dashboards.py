"""The dashboards: panels have room, name variables that are there, and lead to each other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GRAFANA = Path(__file__).parents[2] / "deploy/grafana"
DASHBOARDS = {file.stem: json.loads(file.read_text()) for file in GRAFANA.glob("*.json")}
EACH = pytest.mark.parametrize("name", DASHBOARDS)
BUILT_IN = {"__url_time_range", "__data", "__field"}


def within(document: Any, key: str) -> Iterator[Any]:
    """Every value of a key, however deep."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == key:
                yield value
            yield from within(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from within(value, key)


def test_each_dashboard_has_an_address_of_its_own() -> None:
    assert DASHBOARDS["overview"]["uid"] == "warren-groups"
    assert len({each["uid"] for each in DASHBOARDS.values()}) == len(DASHBOARDS) == 5


@EACH
def test_panels_do_not_overlap(name: str) -> None:
    panels = DASHBOARDS[name]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    cells = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


@EACH
def test_variables_that_are_used_are_there(name: str) -> None:
    dashboard = DASHBOARDS[name]
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard["panels"])))
    assert used - BUILT_IN <= {each["name"] for each in dashboard["templating"]["list"]}
    several = [each["name"] for each in dashboard["templating"]["list"] if each.get("multi")]
    for expression in within(dashboard["panels"], "expr"):
        for variable in several:  # several values are a regular expression
            assert f'="${variable}"' not in expression.replace("=~", "~")


@EACH
def test_no_source_of_data_is_named(name: str) -> None:
    sources = list(within(DASHBOARDS[name], "datasource"))
    assert sources
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)


@EACH
def test_links_lead_to_a_dashboard_and_say_what_it_asks_for(name: str) -> None:
    by_uid = {each["uid"]: each for each in DASHBOARDS.values()}
    for url in filter(None, within(DASHBOARDS[name], "url")):
        found = re.fullmatch(r"/d/([\w-]+)\?(.*)", url)
        assert found, url
        asked = by_uid[found[1]]["templating"]["list"]
        told = set(re.findall(r"var-(\w+)=", found[2]))
        assert {each["name"] for each in asked if not each.get("multi")} == told
