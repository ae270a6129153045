"""Prometheus' text exposition formats, written fast: a hundred thousand samples in a
twentieth of a second, where prometheus_client takes one or two.

Formats: 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats) and OpenMetrics 1.0, which
differ here in one word. As in prometheus_client, labels are sorted by name. Values are finite;
integers are written as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Self

from isal import isal_zlib
from warren.metrics.family import Family

_CHUNK = 128 * 2**10  # bytes: less than a millisecond's work
_GZIP_WINDOW = 16 + isal_zlib.MAX_WBITS  # 16 more for a gzip header
_GZIP_LEVEL = 1  # labels repeat so much that more effort gains little

Value = int | float


def head(family: Family, *, openmetrics: bool = False) -> bytes:
    documentation = _escaped_help(family.documentation, openmetrics=openmetrics)
    kind = "unknown" if openmetrics and family.type == "untyped" else family.type
    return f"# HELP {family.name} {documentation}\n# TYPE {family.name} {kind}\n".encode()


class SampleLines:
    """The lines of many series, all of them but the metric's name and the values.

    Made once, they serve every family with the same labels: C code puts names and values in.
    """

    __slots__ = ("_count", "_lines")

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines` are templates as `_label_template` makes them."""
        self._count = len(lines)
        self._lines = "\n".join(lines).encode()

    @classmethod
    def of_rows(cls, labels: Sequence[str], rows: Iterable[Sequence[str]]) -> Self:
        """A line for each row, which has the labels' values in the labels' order."""
        template = _label_template(labels)
        if not labels:
            return cls([template for _ in rows])
        order = sorted(range(len(labels)), key=labels.__getitem__)
        return cls([template % tuple(_escaped(row[place]) for place in order) for row in rows])

    @classmethod
    def of_partitions(
        cls, labels: Sequence[str], values: Sequence[str], partitions: Iterable[int]
    ) -> Self:
        """A line for each partition; `values` are those of the other labels, in their order."""
        others = [name for name in labels if name != "partition"]
        named = dict(zip(others, map(_escaped, values), strict=True))
        named["partition"] = "\n"  # where the number goes: no escaped value has one
        line = _label_template(labels) % tuple(named[name] for name in sorted(named))
        before, _, after = line.partition("\n")
        return cls([f"{before}{partition}{after}" for partition in partitions])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All lines of the parts, in their order."""
        whole = cls(())
        whole._count = sum(part._count for part in parts)
        whole._lines = b"\n".join(part._lines for part in parts if part._count)
        return whole

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


def _label_template(labels: Sequence[str]) -> str:
    """Takes the labels' values, sorted by name, by `%`; then, as bytes, the sample's value."""
    pairs = ",".join(f'{name}="%s"' for name in sorted(labels))
    return f"{{{pairs}}} %%a" if labels else " %a"


def _escaped(value: str) -> str:
    """A label's value as it is in a template: percent signs are doubled."""
    text = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text.replace("%", "%%")


def _escaped_help(documentation: str, *, openmetrics: bool) -> str:
    text = documentation.replace("\\", r"\\").replace("\n", r"\n")
    return text.replace('"', r"\"") if openmetrics else text
