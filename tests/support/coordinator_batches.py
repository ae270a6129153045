"""Batches of coordinator records, as a source would hand them on."""

from collections.abc import Sequence

import numpy as np
from warren_collector.sources.source import Batch


def batch(
    records: Sequence[tuple[bytes | None, bytes | None]],
    *,
    partition: int | Sequence[int] = 0,
    first_offset: int = 0,
    counted: Sequence[bool] | None = None,
    time: int = -1,
) -> Batch:
    count = len(records)
    partitions = [partition] * count if isinstance(partition, int) else list(partition)
    return Batch(
        keys=[key for key, _ in records],
        values=[value for _, value in records],
        partitions=np.array(partitions, np.int32),
        offsets=np.arange(first_offset, first_offset + count, dtype=np.int64),
        counted=None if counted is None else np.array(counted, np.bool_),
        time=lambda _: time,
    )
