"""Our text against prometheus_client: its parser reads it, its writer writes the same."""

import gzip
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import given, strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from warren.metrics.family import Family
from warren_api.metrics.series import (
    SampleLines,
    Value,
    chunked,
    gzipped,
    head,
    partition_lines,
    row_lines,
)

GROUP = Family("warren_g", 'Something\nwith \\ and "', ("group", "cluster"))
PARTITION = Family("warren_p", "Partitions", ("cluster", "group", "topic", "partition"))
BARE = Family("warren_bare", "No labels", ())

names = st.text(st.characters(exclude_categories=["Cs"]))
values = st.integers(-(2**62), 2**62) | st.floats(0, 1e15)


class Played(Collector):
    """A prometheus_client collector of the samples it is given."""

    def __init__(self, families: Iterable[tuple[Family, list[tuple[list[str], float]]]]) -> None:
        self.families = families

    def collect(self) -> Iterator[Metric]:
        for family, samples in self.families:
            gauge = GaugeMetricFamily(family.name, family.documentation, labels=family.labels)
            for labels, value in samples:
                gauge.add_metric(labels, value)
            yield gauge


def theirs(*families: tuple[Family, list[tuple[list[str], float]]]) -> str:
    registry = CollectorRegistry()
    registry.register(Played(families))
    return generate_latest(registry).decode()


def lines(text: str) -> list[tuple[str, float | None]]:
    """Each line, samples split into series and value: 1, 1.0 and 1e+00 are the same."""
    split = [
        (line, None) if line.startswith("#") else (line.rpartition(" ")[0], line.rpartition(" ")[2])
        for line in text.split("\n")
        if line
    ]
    return [(series, None if value is None else float(value)) for series, value in split]


def sample(family: Family, labels: Sequence[str], value: Value) -> str:
    return SampleLines(row_lines(family.labels, [labels])).written(family.name, [value]).decode()


def column(labels: Sequence[str], partitions: Iterable[int], values: Iterable[Value | None]) -> str:
    lines = SampleLines(partition_lines(PARTITION.labels, labels, partitions))
    return lines.written(PARTITION.name, list(values)).decode()


@given(st.lists(st.tuples(names, names, values), unique_by=lambda row: row[:2]))
def test_samples_are_written_as_prometheus_client_writes_them(
    rows: list[tuple[str, str, float]],
) -> None:
    of_rows = SampleLines(row_lines(GROUP.labels, [(a, b) for a, b, _ in rows]))
    written = of_rows.written(GROUP.name, [value for *_, value in rows])
    ours = (head(GROUP) + written).decode()
    assert lines(ours) == lines(theirs((GROUP, [([a, b], value) for a, b, value in rows])))


@given(names, names, names, st.dictionaries(st.integers(0, 10_000), values))
def test_columns_are_written_as_prometheus_client_writes_them(
    cluster: str, group: str, topic: str, by_partition: dict[int, float]
) -> None:
    labels = (cluster, group, topic)
    ours = head(PARTITION).decode() + column(labels, by_partition.keys(), by_partition.values())
    samples = [([*labels, str(partition)], value) for partition, value in by_partition.items()]
    assert lines(ours) == lines(theirs((PARTITION, samples)))


def test_golden() -> None:
    assert head(GROUP) == b'# HELP warren_g Something\\nwith \\\\ and "\n# TYPE warren_g gauge\n'
    assert sample(GROUP, ('a"b\\c\nd', "demo"), 1.5) == (
        'warren_g{cluster="demo",group="a\\"b\\\\c\\nd"} 1.5\n'
    )
    assert sample(BARE, (), 1) == "warren_bare 1\n"
    assert column(("c", "g", 't"'), [7, 8], [1, 0.25]) == (
        'warren_p{cluster="c",group="g",partition="7",topic="t\\""} 1\n'
        'warren_p{cluster="c",group="g",partition="8",topic="t\\""} 0.25\n'
    )
    assert sample(GROUP, ("100 %", "%s%%a"), 2) == 'warren_g{cluster="%s%%a",group="100 %"} 2\n'


def test_a_value_that_is_unknown_gives_no_sample() -> None:
    text = column(("c", "g", "t\r"), [0, 1, 2], [None, 0, None])
    assert text == 'warren_p{cluster="c",group="g",partition="1",topic="t\r"} 0\n'
    assert column(("c", "g", "t"), [0, 1], [None, None]) == ""
    assert column(("c", "g", "t"), [], []) == ""


def test_chunks_are_the_text_and_compressed_they_are_too() -> None:
    blocks = [f"line {number} ü\n".encode() * 1000 for number in range(100)]
    chunks = list(chunked(blocks))
    assert 1 < len(chunks) < len(blocks)
    assert b"".join(chunks) == b"".join(blocks)
    assert gzip.decompress(gzipped(chunks)) == b"".join(blocks)
    assert gzip.decompress(gzipped(chunked([]))) == b""
