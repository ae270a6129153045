"""Partitions of a group at a glance: a cell for each, rows for those to look at."""

from typing import Any

import pytest
from api.read_pages import STOPPED, cells, fill, page, text
from api.served_api import Api, late, topic
from bs4 import BeautifulSoup

PATH = "/groups/demo/billing"
KINDS = ("WARN", "STOP", "STALL", "REWIND", "BEYOND_END")


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


def shown(soup: BeautifulSoup) -> list[tuple[str, str]]:
    """Of each cell what it says, and the class of its colour and shape."""
    return [
        (str(cell["title"]), cell.get_attribute_list("class")[1])
        for cell in soup.select(".cells > *")
    ]


def test_every_partition_is_a_cell_in_its_place(filled: Api) -> None:
    never: dict[str, Any] = {"status": "WARN", "lag": None}
    topics = {"b": topic(never), "a": topic({}, STOPPED)}
    filled.put("billing", status="ERR", topics=topics)
    assert shown(page(filled, PATH)) == [
        ("a/0: OK, lag 0", "ok"),
        ("a/1: STOP, lag 12,345", "stop"),
        ("b/0: WARN, lag unknown", "warn"),
    ]


def test_the_legend_says_in_words_what_there_is(filled: Api) -> None:
    filled.put("billing", topics={"t": topic({}, {}, *({"status": kind} for kind in KINDS))})
    soup = page(filled, PATH)
    assert [text(item) for item in soup.select(".legend li")] == [
        "1 BEYOND_END",
        "1 REWIND",
        "1 STALL",
        "1 STOP",
        "1 WARN",
        "2 OK",
    ]
    (group,) = soup.select(".cells")
    assert (
        group["aria-label"] == "7 partitions: 1 BEYOND_END, 1 REWIND, 1 STALL, 1 STOP, 1 WARN, 2 OK"
    )


def test_a_cell_leads_to_the_row_of_its_partition(filled: Api) -> None:
    nasty = "<a b>/\"'%"
    filled.put("billing", topics={nasty: topic({}, STOPPED), "t": topic({})})
    soup = page(filled, PATH)
    links = [str(cell["href"]) for cell in soup.select(".cells a")]
    rows = [row["id"] for row in soup.select(".partitions tbody tr")]
    assert len(links) == 3
    assert sorted(links) == sorted(f"#{id_}" for id_ in rows)
    assert not any(letter in "".join(links) for letter in " <>\"'")
    assert [
        cells(row)["Partition"] for row in soup.select(f".partitions [id='{links[2][1:]}']")
    ] == ["t / 0"]


def test_rows_are_of_those_to_look_at_the_others_are_folded(filled: Api) -> None:
    filled.measure("billing", late(5), late(5), late(5), late(5, lost_records=3))
    filled.put("billing", topics={"orders": topic({}, STOPPED, {}, {})})
    soup = page(filled, PATH)
    first, folded = soup.select("table.partitions")
    assert [cells(row)["Partition"] for row in first.select("tbody tr")] == [
        "orders / 1",
        "orders / 3",
    ]
    details = folded.find_parent("details")
    assert details is not None
    assert not details.has_attr("open")
    assert text(details.summary) == "2 partitions are OK"  # type: ignore[arg-type]
    assert len(folded.select("tbody tr")) == 2


def test_nothing_is_folded_or_shown_of_none(filled: Api) -> None:
    (only,) = page(filled, "/groups/demo/fine").select("table.partitions")
    assert only.find_parent("details") is not None
    filled.put("fine", topics={"t": topic(STOPPED)})
    (only,) = page(filled, "/groups/demo/fine").select("table.partitions")
    assert only.find_parent("details") is None
    filled.put("fine", topics={})
    soup = page(filled, "/groups/demo/fine")
    assert not soup.select(".cells, .legend, .partitions")
    assert "has no partitions" in soup.get_text()
