"""Prometheus' text exposition formats, written fast: a hundred thousand samples in a
twentieth of a second, where prometheus_client takes one or two.

Formats: 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats) and OpenMetrics 1.0, which
differ here in one word. As in prometheus_client, labels are sorted by name. Values are finite;
integers are written as such.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress

from isal import isal_zlib
from warren.metrics.family import Family

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
    template, order = _partition_template(tuple(labels))
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
    """Takes the labels' values, in the order that is given too, by `%`. What comes of it takes the
    sample's value, as bytes, by `%` again.
    """
    pairs = ",".join(f'{name}="%s"' for name in sorted(labels))
    return f"{{{pairs}}} %%a", sorted(range(len(labels)), key=labels.__getitem__)


@lru_cache(maxsize=256)
def _partition_template(labels: tuple[str, ...]) -> tuple[str, list[int]]:
    """The same for all labels but `partition`, which has a place holder."""
    others = tuple(name for name in labels if name != "partition")
    pairs = ",".join(
        f'{name}="{_PLACE if name == "partition" else "%s"}"' for name in sorted(labels)
    )
    return f"{{{pairs}}} %%a", _template(others)[1]


@lru_cache(maxsize=2**16)  # the same names come with every family
def _escaped(value: str) -> str:
    """A label's value as it is in a template: percent signs are doubled."""
    text = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text.replace("%", "%%")
