"""The dashboards are what their description says, are laid out, and lead to each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warren_api.model.cluster import STATES
from warren_dashboards import figures
from warren_dashboards.catalogue import CATALOGUE

GRAFANA = Path(__file__).parents[2] / "deploy/grafana"
RENDERED = {name: each.render() for name, each in CATALOGUE.items()}
EACH = pytest.mark.parametrize("name", RENDERED)
UNITS = {"short", "s", "bytes", "percentunit", "Bps", "cps", "reqps"}
BUILT_IN = {"__url_time_range", "__data", "__field"}


def variables(dashboard: dict[str, Any]) -> set[str]:
    return {variable["name"] for variable in dashboard["templating"]["list"]}


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


def test_no_committed_file_is_of_a_dashboard_that_is_gone() -> None:
    assert {file.stem for file in GRAFANA.glob("*.json")} == RENDERED.keys()


def test_bookmarks_of_the_first_dashboard_still_lead_to_the_overview() -> None:
    assert RENDERED["overview"]["uid"] == "warren-groups"
    assert len({each["uid"] for each in RENDERED.values()}) == len(RENDERED) == 5


@EACH
def test_panels_do_not_overlap(name: str) -> None:
    panels = RENDERED[name]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@EACH
def test_titles_tell_panels_of_a_section_from_each_other(name: str) -> None:
    section, found = "", set()
    for panel in RENDERED[name]["panels"]:
        if panel["type"] == "row":
            section = panel["title"]
            continue
        assert (section, panel["title"]) not in found
        found.add((section, panel["title"]))


@EACH
def test_variables_that_are_used_are_there(name: str) -> None:
    dashboard = RENDERED[name]
    chosen = variables(dashboard)
    assert "datasource" in chosen
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard["panels"])))
    assert used - BUILT_IN <= chosen
    asked = set(re.findall(r"\$(\w+)", json.dumps(list(within(dashboard["panels"], "expr")))))
    several = {v["name"] for v in dashboard["templating"]["list"] if v.get("multi")}
    for expression in within(dashboard["panels"], "expr"):
        for variable in asked & several:  # several values are a regular expression
            assert f'="${variable}"' not in expression.replace("=~", "~")
        for variable in asked - several:  # one is itself, dots and all
            assert f'=~"${variable}"' not in expression


@EACH
def test_no_source_of_data_is_named(name: str) -> None:
    sources = list(within(RENDERED[name], "datasource"))
    assert sources
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)


@EACH
def test_every_figure_has_a_unit(name: str) -> None:
    for panel in RENDERED[name]["panels"]:
        if panel["type"] == "row":
            continue
        assert set(within(panel["fieldConfig"], "unit")) <= UNITS
        columns = [
            one["value"]
            for properties in within(panel, "properties")
            for one in properties
            if one["id"] == "unit"
        ]
        assert set(columns) <= UNITS
        assert len(columns) == (len(panel["targets"]) if panel["type"] == "table" else 0)
        assert panel["type"] == "table" or list(within(panel["fieldConfig"], "unit"))


@EACH
def test_thresholds_begin_below_all_and_rise(name: str) -> None:
    for steps in within(RENDERED[name]["panels"], "steps"):
        values = [step["value"] for step in steps]
        assert values[0] is None
        assert values[1:] == sorted(values[1:])


@EACH
def test_a_columns_settings_are_of_a_column_that_is_there(name: str) -> None:
    for panel in RENDERED[name]["panels"]:
        if panel["type"] != "table":
            continue
        titles = set(panel["transformations"][-1]["options"]["renameByName"].values())
        labels = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", str(panel)))))
        assert not titles & labels, "two columns of one name"
        named = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
        assert named <= titles | labels
        assert {each["displayName"] for each in panel["options"]["sortBy"]} <= titles


def test_numbers_of_clusters_stand_for_every_state() -> None:
    assert {name for name, _ in figures.STATES.values()} == set(STATES)
    assert [number for number, (name, _) in figures.STATES.items() if name == "ok"] == [0]


@EACH
def test_links_lead_to_a_dashboard_and_say_what_it_asks_for(name: str) -> None:
    by_uid = {each["uid"]: each for each in RENDERED.values()}
    for url in filter(None, within(RENDERED[name], "url")):
        found = re.fullmatch(r"/d/([\w-]+)\?(.*)", url)
        assert found, url
        told = set(re.findall(r"var-(\w+)=", found[2]))
        asked = by_uid[found[1]]["templating"]["list"]
        assert {v["name"] for v in asked if not v.get("multi")} == told
        assert "${__url_time_range}" in found[2]


def test_a_row_leads_from_the_overview_to_the_group_and_from_there_to_the_topic() -> None:
    def led(name: str) -> set[str]:
        tables = [p for p in RENDERED[name]["panels"] if p["type"] == "table"]
        return {url.split("?")[0] for url in within(tables, "url")}

    assert led("overview") == {"/d/warren-group"}
    assert led("group") == {"/d/warren-topic"}
    assert led("topic") == {"/d/warren-group"}
    for dashboard in RENDERED.values():
        (others,) = dashboard["links"]
        assert (others["type"], others["tags"]) == ("dashboards", ["warren"])
        assert "warren" in dashboard["tags"]
