"""How large topics' batches are, as far as they were seen."""

from __future__ import annotations

import struct

# Up to so many bytes, batches of many partitions share a request: more than one of each may come,
# but no more than `MARGIN` times what is expected.
MOST_SHARED = 18 * 2**10
MARGIN = 1.1
# So many offsets are looked back, where this many bytes are enough for it: the last committed
# record is before the committed offset, and before the control records of up to seven transactions
# that ended in between.
LOOK_BACK = 8
LOOK_BACK_BYTES = 8 * 2**10
_WEIGHT = 0.3  # of the newest batch in the mean
_HEADER = struct.Struct(">qi")  # base offset, bytes that follow


class BatchSizes:
    """Bytes of a topic's batches: a mean in which the newest count most. For one cluster."""

    def __init__(self) -> None:
        self._means: dict[str, float] = {}

    def expected(self, topic: str) -> int | None:
        """None: none was seen yet."""
        mean = self._means.get(topic)
        return None if mean is None else round(mean)

    def learn(self, topic: str, size: int) -> None:
        mean = self._means.get(topic, size)
        self._means[topic] = mean + _WEIGHT * (size - mean)


def is_shared(expected: int | None) -> bool:
    """Whether batches of that size come with those of other partitions."""
    return expected is not None and expected <= MOST_SHARED


def look_back(expected: int | None) -> int:
    """How many offsets before a position are read with it; 0 where that would cost too much."""
    if expected is None or not expected:
        return 0
    return max(min(LOOK_BACK, int(LOOK_BACK_BYTES / (MARGIN * expected)) - 1), 0)


def request_size(expected: int, batches: int = 1) -> int:
    """Bytes to ask for, so that `batches` come."""
    return round(expected * batches * MARGIN)


def first_batch_size(records: bytes) -> int:
    """Bytes of the first batch of a response; 0 without any."""
    if len(records) < _HEADER.size:
        return 0
    _base_offset, size = _HEADER.unpack_from(records)
    return _HEADER.size + int(size)
