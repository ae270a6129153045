"""How large topics' batches are, as far as they were seen."""

import struct
from collections import defaultdict, deque

# Up to so many bytes, batches of many partitions share a request: more than one of each may come,
# but no more than `MARGIN` times what is expected.
MOST_SHARED = 18 * 2**10
MARGIN = 1.1
# So many offsets are looked back, where this many bytes are enough for it: the last committed
# record is before the committed offset, and before the control records of up to seven transactions
# that ended in between.
LOOK_BACK = 8
LOOK_BACK_BYTES = 8 * 2**10
# What a request of its own is worth in bytes: a batch that is larger than asked for needs one.
REQUEST_BYTES = 8 * 2**10
MISSED_BYTES = 2 * 2**10  # and having asked for too little before
_REMEMBERED = 16
_HEADER = struct.Struct(">qi")  # base offset, bytes that follow


class ByteBudget:
    """Bytes of record batches that a pass may read from a cluster, shared by its brokers.

    What is asked for is reserved until it has come: batches are as large as they are, so a pass may
    read more in the end. It is then missing in the next ones.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.left = most
        self.used = 0

    def renew(self) -> None:
        """The next pass begins."""
        self.left = min(self.left, 0) + self._most

    def reserve(self, count: int) -> None:
        """So much is expected; where nobody waits for it any more, it comes nevertheless."""
        self.left -= count
        self.used += count

    def settle(self, reserved: int, count: int) -> None:
        """`count` bytes have come instead of those that were reserved."""
        self.left += reserved - count
        self.used += count - reserved


class BatchSizes:
    """Bytes of the last batches that were seen of each topic. For one cluster."""

    def __init__(self) -> None:
        self._sizes: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
        self._worthwhile: dict[str, int | None] = {}

    def learn(self, topic: str, size: int) -> None:
        """A batch was seen."""
        self._sizes[topic].append(size)
        self._worthwhile.pop(topic, None)

    def mean(self, topic: str) -> int | None:
        """None: none was seen yet."""
        sizes = self._sizes.get(topic)
        return round(sum(sizes) / len(sizes)) if sizes else None

    def worthwhile(self, topic: str) -> int | None:
        """Batches of up to so many bytes are worth being asked for with those of other partitions:
        too little and too much cost least in the end. None: no batch is seen yet, or none is."""
        if topic not in self._worthwhile:
            ordered = sorted(self._sizes.get(topic, ()))
            alone = sum(ordered) + len(ordered) * REQUEST_BYTES
            cheapest, least = None, float(alone)
            for number, size in enumerate(ordered, start=1):
                if size > MOST_SHARED:
                    break
                alone -= size + REQUEST_BYTES
                missed = (len(ordered) - number) * MISSED_BYTES
                if (cost := number * MARGIN * size + alone + missed) < least:
                    cheapest, least = size, cost
            self._worthwhile[topic] = cheapest
        return self._worthwhile[topic]


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
