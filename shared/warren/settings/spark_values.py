"""Values that Spark and its JVM take: what they refuse is told of before either is started."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

LEAST_HEAP, MOST_HEAP = 512 * 2**20, 64 * 2**40
"""Bytes. Spark wants 450 MiB beside what the JVM keeps free; no machine has more than the other."""
LEAST_EVERY = 10.0
"""Seconds: a JVM takes about as long to start."""
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_HEAP = re.compile(r"([0-9]{1,15})([kmgt]?)", re.IGNORECASE)
_CORES = r"(\*|[1-9][0-9]*)"
_MASTER = re.compile(
    rf"local|local\[{_CORES}(, *[0-9]+)?\]"
    r"|local-cluster\[[1-9][0-9]*, *[1-9][0-9]*, *[1-9][0-9]*\]"
    r"|spark://[^\s,]+:[0-9]+(,[^\s,]+:[0-9]+)*|k8s://\S+|yarn"
)


def _master(value: str) -> str:
    if not _MASTER.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a master of Spark: local[2], spark://host:7077, k8s://https://host "
            "or yarn"
        )
    return value


def _heap(value: str) -> str:
    found = _HEAP.fullmatch(value)
    size = int(found[1]) * _UNITS[found[2].lower()] if found else 0
    if not LEAST_HEAP <= size <= MOST_HEAP:
        raise ValueError(f"{value!r} is not a size from 512m to 64t, such as 1g")
    return value


def _every(value: float) -> float:
    if 0 < value < LEAST_EVERY:
        raise ValueError(f"must be 0, or {LEAST_EVERY:g} and more")
    return value


SparkMaster = Annotated[str, AfterValidator(_master)]
HeapSize = Annotated[str, AfterValidator(_heap)]
PassInterval = Annotated[float, AfterValidator(_every)]
"""Seconds; 0: no passes."""
