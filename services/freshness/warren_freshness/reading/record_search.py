"""Reading forward from one position until a record is found: state, no I/O."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from warren.errors import UnreadableBatch
from warren_wire.record_batches import ReadCommitted, Record, decoded_batches

from warren_freshness.log_position import UNKNOWN, LogPosition, Reading, RecordTimes
from warren_freshness.reading.batch_sizes import (
    first_batch_size,
    look_back,
    request_size,
)

NO_TIMESTAMP = -1  # message format 0 has none (KIP-32)


class Neighbours(NamedTuple):
    """What a response holds around an offset; times are raw, Unix ms."""

    before: int | None
    """Append time of the last record before the offset."""
    first: int | None
    """Append time of the first record at or after it."""
    next_offset: int
    """First offset after what was searched."""
    in_transaction: bool = False
    """Whether the first record belongs to one, which may be aborted where that is not decided."""


def neighbours(
    fetched: bytes, fetch_offset: int, offset: int, aborted: Collection[tuple[int, int]]
) -> Neighbours:
    """Looks through what was fetched from `fetch_offset` (<= `offset` when records before matter).

    `aborted` lists (producer id, first offset), as the broker does for read_committed. Raises
    UnreadableBatch.
    """
    last: Record | None = None
    next_offset = fetch_offset
    committed = ReadCommitted(aborted)
    for batch in decoded_batches(fetched):
        if committed.shows(batch):
            for record in batch.records():
                if record.offset >= offset:
                    in_transaction = batch.is_transactional
                    return Neighbours(_time(last), _time(record), record.offset + 1, in_transaction)
                last = record
        next_offset = max(next_offset, batch.next_offset)
    return Neighbours(_time(last), None, next_offset)


def times_at(
    fetched: bytes, offsets: Sequence[int], aborted: Collection[tuple[int, int]]
) -> dict[int, RecordTimes]:
    """The records at or after each of `offsets` (ascending, none before what was fetched), and
    those before: as far as they are in `fetched`. Raises UnreadableBatch."""
    found: dict[int, RecordTimes] = {}
    at, last = 0, None
    for record in _shown(fetched, aborted):
        while at < len(offsets) and record.offset >= offsets[at]:
            first = _time(record)
            assert first is not None
            found[offsets[at]] = RecordTimes(first, _time(last))
            at += 1
        if at == len(offsets):
            break
        last = record
    return found


def _shown(fetched: bytes, aborted: Collection[tuple[int, int]]) -> Iterator[Record]:
    committed = ReadCommitted(aborted)
    for batch in decoded_batches(fetched):
        if committed.shows(batch):
            yield from batch.records()


def _time(record: Record | None) -> int | None:
    if record is None:
        return None
    return NO_TIMESTAMP if record.timestamp is None else record.timestamp


READ_UNCOMMITTED = 0
READ_COMMITTED = 1
# The first partition of a request that has anything gets its first batch whole, of any size
# (KIP-74), and no byte more than that when one byte is asked for. All others get nothing where
# their first batch is larger than what they ask for.
ONE_BATCH = 1
# Where a batch has no record for the position, the search goes on in larger and larger strides.
FIRST_STRIDE = 16 * 2**10
LARGEST_STRIDE = 2**20
_GROWTH = 8
# A leader that answers with nothing that often is throttling, or its log is damaged.
MOST_EMPTY_ANSWERS = 8
MOST_CORRECTIONS = 3


class Fetched(NamedTuple):
    """One partition of a fetch response (KIP-98: end is the high watermark, stable_end the last
    stable offset, before which all transactions are decided)."""

    records: bytes
    end: int
    stable_end: int
    aborted: list[tuple[int, int]]

    @classmethod
    def from_response(cls, partition: tuple[Any, ...]) -> Self:
        """From a partition of a FetchResponse, version 4 to 11."""
        _number, _error, end, stable_end, *rest = partition
        aborted = next((item for item in rest if isinstance(item, list)), None)
        return cls(rest[-1] or b"", end, end if stable_end < 0 else stable_end, aborted or [])


@dataclass(slots=True)
class RecordSearch:
    """How far the search around one position is. Done when `reading` is there.

    `size`: bytes to ask for; `leads`: only the first partition of a request gets what it needs.
    `floor`: from here on the record before the position may be looked for, where it costs little;
    UNKNOWN: nowhere.
    With `only_before`, the record before the position is all that is wanted.
    """

    position: LogPosition
    fetch_offset: int
    size: int = ONE_BATCH
    leads: bool = True
    floor: int = UNKNOWN
    only_before: bool = False
    isolation: int = READ_COMMITTED
    reading: Reading | None = None
    looked_back: bool = False
    batch_size: int = 0
    """Bytes of the batch that was seen last."""
    _without_before: Reading | None = None
    _before: int | None = None
    _log_start: int = UNKNOWN
    _empty_answers: int = 0
    _corrections: int = 0
    _stable_end: int = UNKNOWN

    @classmethod
    def planned(
        cls,
        position: LogPosition,
        start: int,
        expected: int | None,
        *,
        only_before: bool = False,
    ) -> Self:
        """`expected`: bytes up to which batches are asked for with others, if any. `start`: where
        an earlier search ended or, when that is not after the position, where the log begins."""
        if start > position.offset:
            return cls(position, start, FIRST_STRIDE, floor=start)
        search = cls(position, position.offset, floor=start, only_before=only_before)
        search.plan(expected)
        return search

    def plan(self, expected: int | None) -> None:
        """Small batches are asked for with those of other partitions, and with some before."""
        has_begun = self.looked_back or self.batch_size or self.fetch_offset != self.offset
        if has_begun or self._empty_answers or expected is None:
            return
        back = min(look_back(expected), self.offset - self.floor)
        self.looked_back = back > 0
        self.fetch_offset = self.offset - back
        self.leads, self.size = False, request_size(expected, back + 1)

    @property
    def may_share(self) -> bool:
        """Whether what others fetch may hold all that it wants."""
        return self.reading is None and self._without_before is None and not self.only_before

    @property
    def offset(self) -> int:
        """First offset that matters: the position's, or the log's first when that is deleted."""
        return max(self.position.offset, self._log_start)

    def take(self, fetched: Fetched) -> None:
        """Goes on with what the leader sent."""
        try:
            found = neighbours(fetched.records, self.fetch_offset, self.offset, fetched.aborted)
        except UnreadableBatch:
            self.reading = Reading("corrupt", log_start=self._log_start)
            return
        self.batch_size = first_batch_size(fetched.records) or self.batch_size
        if found.before is not None:
            self._before = found.before
        if self._without_before is not None:
            self.reading = self._without_before._replace(before=self._before)
            return
        if found.first is not None:
            # Where nothing is decided yet, only a group that reads uncommitted records can be.
            if self.isolation == READ_COMMITTED or self._stable_end < self.position.offset:
                undecided = self.isolation == READ_UNCOMMITTED and found.in_transaction
                self.reading = Reading(
                    "record",
                    first=found.first,
                    before=self._before,
                    log_start=self._log_start,
                    stable_end=self._stable_end if undecided else UNKNOWN,
                )
            else:
                self._nothing(fetched, undecided_at=found.first)
        else:
            self._go_on(found.next_offset, fetched)
        if self.reading is not None and self._before is None:
            self._look_back(self.reading)

    def share(self, times: RecordTimes) -> None:
        """What was fetched for another position holds this one's record."""
        before = self._before if times.before is None else times.before
        self.reading = Reading("record", times.first, before, self._log_start)
        if before is None:
            self._look_back(self.reading)

    def correct(self, log_start: int) -> None:
        """The leader said that the offset is out of range; its log starts there."""
        self._corrections += 1
        if self._corrections > MOST_CORRECTIONS:
            self.give_up()
        elif self.position.offset < log_start:
            self._log_start = self.fetch_offset = log_start
            self._before = None
        elif self.fetch_offset < log_start:
            self.fetch_offset = log_start
        else:
            self.reading = Reading("beyond_end")

    def refuse(self) -> None:
        """The leader says that this topic may not be read."""
        self.reading = Reading("not_authorised")

    def give_up(self) -> None:
        """No answer that helps."""
        if self._without_before is not None:
            self.reading = self._without_before
            return
        past = self.fetch_offset > self.position.offset
        self.reading = Reading(
            "unread",
            before=self._before,
            log_start=self._log_start,
            resume_at=self.fetch_offset if past else UNKNOWN,
        )

    def finish(self) -> Reading:
        """The reading; `unread` when there is none yet."""
        if self.reading is None:
            self.give_up()
        assert self.reading is not None
        return self.reading

    def _end(self, fetched: Fetched) -> int:
        return fetched.stable_end if self.isolation == READ_COMMITTED else fetched.end

    def _nothing(self, fetched: Fetched, undecided_at: int | None = None) -> None:
        self.reading = Reading(
            "none",
            before=self._before,
            log_start=self._log_start,
            end=fetched.end,
            undecided_at=undecided_at,
            stable_end=UNKNOWN if undecided_at is None else self._stable_end,
        )

    def _go_on(self, next_offset: int, fetched: Fetched) -> None:
        """Nothing yet for the position."""
        if next_offset > self.fetch_offset:
            self.fetch_offset = next_offset
            self._empty_answers = 0
            # What comes next is searched anyway, however much it is.
            if self.fetch_offset > self.offset:
                self.leads = True
                self.size = min(max(self.size * _GROWTH, FIRST_STRIDE), LARGEST_STRIDE)
        elif self.fetch_offset < self._end(fetched):
            # More than was asked for: it comes when this partition leads a request.
            self._empty_answers += 1
            if self.only_before or self._empty_answers > MOST_EMPTY_ANSWERS:
                self.give_up()
            elif self.fetch_offset <= self.offset:
                self.leads, self.size, self.fetch_offset = True, ONE_BATCH, self.offset
        if self.only_before and self.fetch_offset >= self.offset:
            self._nothing(fetched)
        elif self.fetch_offset >= self._end(fetched):
            undecided = self.isolation == READ_COMMITTED and fetched.stable_end < fetched.end
            if undecided and not self.only_before:
                # What follows belongs to open transactions: it may become records.
                self.isolation, self._stable_end = READ_UNCOMMITTED, fetched.stable_end
            else:
                self._nothing(fetched)

    def _look_back(self, reading: Reading) -> None:
        """The position is the first of its batch: the record before it is in an earlier one."""
        begin = max(self.offset - look_back(self.batch_size), self.floor)
        has_been_there = self.only_before or self.looked_back or self._log_start != UNKNOWN
        if self.floor == UNKNOWN or has_been_there or begin >= self.offset:
            return
        self._without_before, self.reading, self.looked_back = reading, None, True
        self.fetch_offset, self.isolation = begin, READ_COMMITTED
        self.leads, self.size = False, request_size(self.batch_size, self.offset - begin)
