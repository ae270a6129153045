"""Families whose samples come from many things alike: groups, topics of groups, their partitions,
logs.

A family is declared with the function that gets its values out of such a thing. Families with the
same labels share their lines, which are made once per scrape.

They are written in Prometheus' text exposition formats, and fast: a hundred thousand samples in a
twentieth of a second, where prometheus_client takes one or two. Formats: 0.0.4
(prometheus.io/docs/instrumenting/exposition_formats) and OpenMetrics 1.0, which differ here in one
word. As in prometheus_client, labels are sorted by name. Values are finite; integers are written as
such.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress, groupby
from typing import Generic, NamedTuple, TypeVar

from isal import isal_zlib
from warren.contracts import TopicFreshness, TopicLag, TopicsEvent
from warren.metrics.family import Family

from warren_api.model.group import GroupView
from warren_api.model.membership import Membership

_CHUNK = 128 * 2**10  # bytes: less than a millisecond's work
_GZIP_WINDOW = 16 + isal_zlib.MAX_WBITS  # 16 more for a gzip header
_GZIP_LEVEL = 1  # labels repeat so much that more effort gains little

_NO_LABELS = " %a"
_PLACE = "\n"  # of a partition's number: no escaped value has one


Value = int | float


def head(family: Family, *, openmetrics: bool = False) -> bytes:
    documentation = family.documentation.replace("\\", r"\\").replace("\n", r"\n")
    if openmetrics:
        documentation = documentation.replace('"', r"\"")
    kind = "unknown" if openmetrics and family.type == "untyped" else family.type
    return f"# HELP {family.name} {documentation}\n# TYPE {family.name} {kind}\n".encode()


class SampleLines:
    """The lines of many series, all of them but the metric's name and the values.

    Made once, they serve every family with the same labels: C code puts names and values in.
    """

    __slots__ = ("_count", "_lines")

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines` are made by `row_lines` or `partition_lines`."""
        self._count = len(lines)
        self._lines = "\n".join(lines).encode()

    def written(self, name: str, values: Sequence[Value | None]) -> bytes:
        """The samples of a metric; None, which is unknown, gives none."""
        if len(values) != self._count:
            raise ValueError(f"{name}: {len(values)} values for {self._count} series")
        lines, known = self._lines, values
        if None in values:
            lines = b"\n".join(compress(lines.split(b"\n"), [v is not None for v in values]))
            known = [value for value in values if value is not None]
        if not known:
            return b""
        start = name.encode()
        return start + lines.replace(b"\n", b"\n" + start) % tuple(known) + b"\n"


def row_lines(labels: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A line for each row, which has the labels' values in the labels' order."""
    if not labels:
        return [_NO_LABELS for _ in rows]
    template, order = _template(tuple(labels))
    return [template % tuple([_escaped(row[place]) for place in order]) for row in rows]


def partition_lines(
    labels: Sequence[str], values: Sequence[str], partitions: Iterable[int]
) -> list[str]:
    """A line for each partition; `values` are those of the other labels, in their order."""
    if len(values) != len(labels) - 1:
        raise ValueError(f"{len(values)} values for {len(labels) - 1} labels")
    template, order = _template(tuple(labels))
    line = template % tuple([_escaped(values[place]) for place in order])
    before, _, after = line.partition(_PLACE)
    return [f"{before}{partition}{after}" for partition in partitions]


def chunked(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of some size."""
    collected: list[bytes] = []
    size = 0
    for block in blocks:
        collected.append(block)
        size += len(block)
        if size >= _CHUNK:
            yield b"".join(collected)
            collected, size = [], 0
    yield b"".join(collected)


def gzipped(chunks: Iterable[bytes]) -> bytes:
    """Compresses chunk by chunk, so that the plain text is never there as a whole.

    It works without Python's lock: between two chunks other threads get their turn. ISA-L takes a
    fifth of zlib's time, which would be half of a scrape's.
    """
    compressor = isal_zlib.compressobj(_GZIP_LEVEL, isal_zlib.DEFLATED, _GZIP_WINDOW)
    return b"".join([*map(compressor.compress, chunks), compressor.flush()])


@lru_cache(maxsize=256)
def _template(labels: tuple[str, ...]) -> tuple[str, list[int]]:
    """Takes the labels' values, in the order that is given too, by `%`; `partition` has a place
    holder. What comes of it takes the sample's value, as bytes, by `%` again.
    """
    others = tuple(name for name in labels if name != "partition")
    pairs = ",".join(
        f'{name}="{_PLACE if name == "partition" else "%s"}"' for name in sorted(labels)
    )
    return f"{{{pairs}}} %%a", sorted(range(len(others)), key=others.__getitem__)


@lru_cache(maxsize=2**16)  # the same names come with every family
def _escaped(value: str) -> str:
    """A label's value as it is in a template: percent signs are doubled."""
    text = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text.replace("%", "%%")


class LogEnds(NamedTuple):
    """A topic's partitions; None is unknown."""

    cluster: str
    topic: str
    partitions: list[int]
    starts: list[int | None]
    ends: list[int | None]


def log_ends(views: Iterable[GroupView]) -> list[LogEnds]:
    """Of groups that share a topic the last judged one has seen the newest ends."""
    newest: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    for view in sorted(views, key=lambda view: view.event.evaluated_at):
        for topic, columns in view.event.topics.items():
            rows = zip(columns.partition, columns.log_start, columns.log_end, strict=True)
            known = {partition: (start, end) for partition, start, end in rows if end >= 0}
            newest.setdefault((view.cluster, topic), {}).update(known)
    return [_of_topic(cluster, topic, rows) for (cluster, topic), rows in newest.items()]


def unconsumed(logs: Iterable[LogEnds], listed: Iterable[TopicsEvent]) -> list[LogEnds]:
    """What collectors list beyond `logs`: topics and partitions that no group consumes."""
    consumed = {(log.cluster, log.topic): frozenset(log.partitions) for log in logs}
    found = []
    for event in listed:
        for topic, ends in event.log_ends.items():
            known = consumed.get((event.cluster, topic), frozenset())
            rows = {p: (-1, end) for p, end in enumerate(ends) if end >= 0 and p not in known}
            if rows:
                found.append(_of_topic(event.cluster, topic, rows))
    return found


def _of_topic(cluster: str, topic: str, rows: dict[int, tuple[int, int]]) -> LogEnds:
    starts = [start if start >= 0 else None for start, _ in rows.values()]
    return LogEnds(cluster, topic, list(rows), starts, [end for _, end in rows.values()])


_AT_ONCE = 1000  # series that are written in one go: a tenth of a millisecond


TopicColumns = TypeVar("TopicColumns", TopicLag, TopicFreshness)


class TopicOf(NamedTuple, Generic[TopicColumns]):
    """A topic of a group, as the evaluation has it or as the freshness service measured it."""

    cluster: str
    group: str
    topic: str
    columns: TopicColumns
    membership: Membership | None


JudgedTopic = TopicOf[TopicLag]
MeasuredTopic = TopicOf[TopicFreshness]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Series(Generic[Item]):
    """A family and an item's values in it, in the order of its lines; None gives no sample."""

    family: Family
    values: Callable[[Item], Iterable[Value | None]]


@dataclass(frozen=True, slots=True)
class Things(Generic[Item]):
    """`lines`: those of an item for some label names; `size`: how many series it has."""

    items: Sequence[Item]
    lines: Callable[[Sequence[str], Item], list[str]]
    size: Callable[[Item], int] = lambda _: 1

    def parts(self) -> Iterator[list[Item]]:
        """Of a thousand series or so, so that no step holds Python's lock long."""
        part, size = list[Item](), 0
        for item in self.items:
            part.append(item)
            size += self.size(item)
            if size >= _AT_ONCE:
                yield part
                part, size = [], 0
        if part:
            yield part


class Samples(NamedTuple):
    """Lines of some series and their values, as many; None is no sample."""

    lines: SampleLines
    values: Sequence[Value | None]


class Collected(NamedTuple):
    """A family and its samples, which are made when they are asked for: before the next family."""

    family: Family
    parts: Iterable[Samples]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Collects the families that are wanted; of the others it costs nothing."""

    wanted: Callable[[Family], bool]

    def collect(
        self, declared: Iterable[Series[Item]], things: Things[Item]
    ) -> Iterator[Collected]:
        kept = [series for series in declared if self.wanted(series.family)]
        for labels, alike in groupby(kept, key=lambda series: series.family.labels):
            blocks = [
                (part, SampleLines([line for item in part for line in things.lines(labels, item)]))
                for part in things.parts()
            ]
            for series in alike:
                yield Collected(series.family, _samples(series, blocks))


def _samples(
    series: Series[Item], blocks: Iterable[tuple[list[Item], SampleLines]]
) -> Iterator[Samples]:
    return (
        Samples(lines, [value for item in part for value in series.values(item)])
        for part, lines in blocks
    )


def group_things(views: Sequence[GroupView]) -> Things[GroupView]:
    """One series per group."""
    return Things(views, lambda labels, view: row_lines(labels, [(view.cluster, view.group)]))


def topic_things(topics: Sequence[TopicOf[TopicColumns]]) -> Things[TopicOf[TopicColumns]]:
    """One series per topic of a group."""
    return Things(topics, lambda labels, topic: row_lines(labels, [topic[:3]]))


def plain_lines(labels: Sequence[str], topic: JudgedTopic | MeasuredTopic) -> list[str]:
    return partition_lines(labels, topic[:3], topic.columns.partition)


def partition_things(
    topics: Sequence[TopicOf[TopicColumns]],
    lines: Callable[[Sequence[str], JudgedTopic | MeasuredTopic], list[str]] = plain_lines,
) -> Things[TopicOf[TopicColumns]]:
    """One series per partition of a group; `lines`: where they have labels after `partition`."""
    return Things(topics, lines, lambda topic: len(topic.columns.partition))


def log_things(logs: Sequence[LogEnds]) -> Things[LogEnds]:
    """One series per partition of a topic."""
    return Things(
        logs,
        lambda labels, log: partition_lines(labels, (log.cluster, log.topic), log.partitions),
        lambda log: len(log.partitions),
    )


@dataclass(frozen=True)
class Snapshot:
    """The groups of one scrape, and what they consist of."""

    views: Sequence[GroupView]

    @cached_property
    def judged(self) -> list[JudgedTopic]:
        return [
            TopicOf(view.cluster, view.group, topic, columns, view.membership)
            for view in self.views
            for topic, columns in view.event.topics.items()
        ]

    @cached_property
    def measured(self) -> list[MeasuredTopic]:
        return [
            TopicOf(view.cluster, view.group, topic, columns, view.membership)
            for view in self.views
            if (measured := view.measured or view.freshness)
            for topic, columns in measured.event.topics.items()
        ]

    @cached_property
    def logs(self) -> list[LogEnds]:
        return log_ends(self.views)
