"""Prometheus' text exposition format 0.0.4, written fast: a hundred thousand samples in a tenth of
a second, where prometheus_client takes one or two.

Format: prometheus.io/docs/instrumenting/exposition_formats. As in prometheus_client, labels are
sorted by name. Values are finite; integers are written as such.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from warren.metrics.api_families import Family

_CHUNK = 128 * 2**10  # characters: a few milliseconds' work
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib: 16 more for a gzip header
_GZIP_LEVEL = 1  # labels repeat so much that more effort gains little

Value = int | float


def head(family: Family) -> str:
    documentation = family.documentation.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {family.name} {documentation}\n# TYPE {family.name} gauge\n"


def sample(family: Family, labels: Sequence[str], value: Value) -> str:
    """`labels` are the values of the family's labels, in its order."""
    if not family.labels:
        return f"{family.name} {value}\n"
    return f"{family.name}{{{_pairs(zip(family.labels, labels, strict=True))}}} {value}\n"


def column(
    family: Family,
    labels: Sequence[str],
    partitions: Iterable[int],
    values: Iterable[Value | None],
) -> str:
    """Samples of partitions; None, which is unknown, gives none. `labels` are the values of the
    family's labels but for the last one, which is `partition`.
    """
    named = list(zip(family.labels[:-1], labels, strict=True))
    before = _pairs(pair for pair in named if pair[0] < "partition")
    after = _pairs(pair for pair in named if pair[0] > "partition")
    opening = f'{family.name}{{{before},partition="'
    closing = f'",{after}}} '
    return "".join(
        [
            f"{opening}{partition}{closing}{value}\n"
            for partition, value in zip(partitions, values, strict=True)
            if value is not None
        ]
    )


def encoded(blocks: Iterable[str]) -> Iterator[bytes]:
    """The text as UTF-8 in chunks of some size."""
    collected: list[str] = []
    size = 0
    for block in blocks:
        collected.append(block)
        size += len(block)
        if size >= _CHUNK:
            yield "".join(collected).encode()
            collected, size = [], 0
    yield "".join(collected).encode()


def gzipped(chunks: Iterable[bytes]) -> bytes:
    """Compresses chunk by chunk, so that the plain text is never there as a whole.

    zlib works without Python's lock: between two chunks other threads get their turn.
    """
    compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return b"".join([*map(compressor.compress, chunks), compressor.flush()])


def _pairs(named: Iterable[tuple[str, str]]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(named))


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
