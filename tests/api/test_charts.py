"""The past on pages: charts that need no script, and the page of a topic."""

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api, topic
from warren.contracts import MINUTE_MS
from warren_api.pages.charts import (
    Line,
    Said,
    StatusTimes,
    chart,
    count_of,
    duration_of,
    grid_of,
    mean_count_of,
    rates,
    status_strip,
)

THIS = NOW - NOW % MINUTE_MS


@pytest.fixture
def told(api: Api) -> Api:
    api.put("billing", status="ERR")
    for n in range(1, 61):
        status = {"ERR": 60_000} if n <= 15 else {"OK": 60_000}
        api.remember("billing", THIS - n * MINUTE_MS, status_ms=status, late_ms=n * 1000)
    return api


def test_a_line_has_a_gap_where_nothing_is_known() -> None:
    drawn = chart("Lag", [Line("lag", "lag", [0, 5, None, 10])], count_of)
    assert drawn.count("<path") == 2
    assert 'd="M75.0,130.0L225.0,69.0"' in drawn
    assert "<title>Lag: lag 10 at the end, between 0 and 10</title>" in drawn


def test_no_step_is_so_long_that_it_hides_a_peak() -> None:
    drawn = chart("Lag", [Line("lag", "lag", [7, 900, 9], [5, 0, 9])], count_of)
    assert "<title>Lag: lag 9 at the end, between 0 and 900</title>" in drawn


def test_nothing_in_a_chart_acts() -> None:
    drawn = chart("<b>", [Line('"&', "lag", [1.0])], count_of, at=["</svg><script>"])
    assert "<b>" not in drawn
    assert "<script" not in drawn


def test_a_strip_says_in_words_what_it_shows() -> None:
    times = StatusTimes([1, 0, 5, None], [0, 0, 5, None], [1, 0, 0, None], [9])
    assert times.worst == ["err", "", "warn", ""]
    times = StatusTimes([60, 60, 45, 0, None], [0] * 5, [0, 0, 15, 60, None], [60] * 4 + [0])
    strip = status_strip("Status", times)
    assert "<title>Status: ERR 31 %, OK 69 % of the time</title>" in strip
    assert strip.count("<rect") == 2


def test_shares_are_of_the_time_and_not_of_steps() -> None:
    """However long the steps are: a second of each quarter of an hour is no hour."""
    quarter = 15 * MINUTE_MS
    bad = StatusTimes([quarter - 1000] * 4, [0] * 4, [1000] * 4, [quarter] * 4)
    assert bad.worst == ["err"] * 4
    assert bad.words == "ERR under 1 %, OK 99 % of the time"


def test_how_much_is_known_is_said_where_it_is_not_all() -> None:
    known = StatusTimes([0, 0], [0, 0], [None, MINUTE_MS], [59 * MINUTE_MS, MINUTE_MS])
    assert known.words == "ERR 100 % of the 1m that are known"
    assert StatusTimes([None], [None], [None], [1]).words == "status unknown"


def test_a_mean_of_few_is_no_whole_number() -> None:
    assert [mean_count_of(each) for each in (0, 0.4, 1, 9.96, 1234.5)] == [
        *["0", "0.4", "1", "10", "1,234"]
    ]


def test_rates_are_of_the_time_that_somebody_looked() -> None:
    assert rates([60, 60, None, 5], [60_000, 30_000, 60_000, 0]) == [1, 2, None, None]


def test_a_groups_last_hour(told: Api) -> None:
    told.change("billing", "ERR", THIS - 15 * MINUTE_MS)
    soup = page(told, "/groups/demo/billing")
    titles = [text(title) for title in soup.select("svg.chart > title")]
    assert titles[0].startswith("Late, last hour: late 1s at the end, between 1s and 1m")
    assert titles[2].startswith("Records a second, last hour: produced 2.0/s")
    assert "ERR after OK" in text(soup.select_one(".mark title"))  # type: ignore[arg-type]
    (day,) = soup.select(".day svg title")
    assert "ERR" in text(day)
    assert not soup.select("[style], script:not([src])")


NASTY = "<script>/\"'%"


def test_who_reads_a_topic_with_links_both_ways(told: Api) -> None:
    told.put("fine", topics={"orders": topic({}), NASTY: topic({})})
    soup = page(told, "/topics/demo/orders")
    assert [a["href"] for a in soup.select(".readers th a")] == [
        *["/groups/demo/billing", "/groups/demo/fine"]
    ]
    assert soup.select("svg.chart")
    links = {str(a["href"]) for a in page(told, "/groups/demo/fine").select(".partitions th a")}
    assert "/topics/demo/orders" in links
    (nasty,) = links - {"/topics/demo/orders"}
    heading = page(told, nasty).h1
    assert heading is not None
    assert heading.get_text() == NASTY
    assert page(told, "/fragments/topics/demo/orders").select("[data-announcement]")


def test_a_topic_tells_a_producers_trouble_from_a_consumers(told: Api) -> None:
    def said() -> list[str]:
        return [text(why) for why in page(told, "/topics/demo/orders").select(".why")]

    assert said() == [], "one group alone tells neither"
    cause = {"name": "no_members", "sentence": "nobody is in <it>"}
    told.put("billing", status="ERR", cause=cause)
    told.put("fine")
    assert said() == [
        "1 of 2 groups is failing: the other keeps up; the topic is fine, the consumer is not."
    ]
    row, _ = page(told, "/topics/demo/orders").select(".readers tbody tr")
    assert "nobody is in <it>" in text(row)
    told.put("fine", status="WARN")
    assert said() == ["All 2 groups are failing: look at its producers and brokers first."]


@pytest.mark.parametrize(
    ("most", "said", "labels"),
    [
        (0, count_of, ["0", "0"]),
        (9, count_of, ["10", "5", "0"]),
        (12_345, count_of, ["15,000", "10,000", "5,000", "0"]),
        (40 * MINUTE_MS, duration_of, ["40m", "30m", "20m", "10m", "0s"]),
        (MINUTE_MS, duration_of, ["1m", "45s", "30s", "15s", "0s"]),
    ],
)
def test_a_scale_has_round_figures(most: float, said: Said, labels: list[str]) -> None:
    assert [said(value) for value in grid_of(most, said)] == labels
