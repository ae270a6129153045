"""Our text against prometheus_client: its parser reads it, its writer writes the same."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from warren.metrics.api_families import Family
from warren_api.exposition import column, encoded, gzipped, head, sample

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


@given(st.lists(st.tuples(names, names, values), unique_by=lambda row: row[:2]))
def test_samples_are_written_as_prometheus_client_writes_them(
    rows: list[tuple[str, str, float]],
) -> None:
    ours = head(GROUP) + "".join(sample(GROUP, (a, b), value) for a, b, value in rows)
    assert lines(ours) == lines(theirs((GROUP, [([a, b], value) for a, b, value in rows])))


@given(names, names, names, st.dictionaries(st.integers(0, 10_000), values))
def test_columns_are_written_as_prometheus_client_writes_them(
    cluster: str, group: str, topic: str, by_partition: dict[int, float]
) -> None:
    labels = (cluster, group, topic)
    ours = head(PARTITION) + column(PARTITION, labels, by_partition.keys(), by_partition.values())
    samples = [([*labels, str(partition)], value) for partition, value in by_partition.items()]
    assert lines(ours) == lines(theirs((PARTITION, samples)))


@given(names, names, values)
def test_its_parser_reads_what_we_write(cluster: str, group: str, value: float) -> None:
    text = head(GROUP) + sample(GROUP, (group, cluster), value)
    (family,) = text_string_to_metric_families(text)
    (read,) = family.samples
    assert (family.name, family.type, family.documentation) == (
        GROUP.name,
        "gauge",
        GROUP.documentation,
    )
    assert read.labels == {"group": group, "cluster": cluster}
    assert float(read.value) == float(value)  # the parser keeps integers as such


def test_golden() -> None:
    assert head(GROUP) == ('# HELP warren_g Something\\nwith \\\\ and "\n# TYPE warren_g gauge\n')
    assert sample(GROUP, ('a"b\\c\nd', "demo"), 1.5) == (
        'warren_g{cluster="demo",group="a\\"b\\\\c\\nd"} 1.5\n'
    )
    assert sample(BARE, (), 1) == "warren_bare 1\n"
    assert column(PARTITION, ("c", "g", 't"'), [7, 8], [1, 0.25]) == (
        'warren_p{cluster="c",group="g",partition="7",topic="t\\""} 1\n'
        'warren_p{cluster="c",group="g",partition="8",topic="t\\""} 0.25\n'
    )


def test_a_value_that_is_unknown_gives_no_sample() -> None:
    text = column(PARTITION, ("c", "g", "t"), [0, 1, 2], [None, 0, None])
    assert text == 'warren_p{cluster="c",group="g",partition="1",topic="t"} 0\n'


def test_labels_and_columns_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        sample(GROUP, ("only one",), 1)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        column(PARTITION, ("c", "g"), [0], [1])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        column(PARTITION, ("c", "g", "t"), [0, 1], [1])


def test_chunks_are_the_text_and_compressed_they_are_too() -> None:
    blocks = [f"line {number} ü\n" * 1000 for number in range(100)]
    chunks = list(encoded(blocks))
    assert 1 < len(chunks) < len(blocks)
    assert b"".join(chunks).decode() == "".join(blocks)
    assert gzip.decompress(gzipped(chunks)).decode() == "".join(blocks)
    assert gzip.decompress(gzipped(encoded([]))) == b""
