"""Reading forward from one position until a record is found: state, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from warren.errors import UnreadableBatch

from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.reading.neighbours import neighbours

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
# A batch that is larger than asked for comes only when it is the first of a response (KIP-74), so
# partitions ask for little (the default batch.size of Kafka's own producer) and, where nothing
# comes, for eight times as much.
FIRST_SIZE = 16 * 2**10
LARGEST_SIZE = 8 * 2**20
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
    def from_response(cls, partition: tuple[Any, ...]) -> Fetched:
        """From a partition of a FetchResponse, version 4 to 11."""
        _number, _error, end, stable_end, *rest = partition
        aborted = next((item for item in rest if isinstance(item, list)), None)
        return cls(rest[-1] or b"", end, end if stable_end < 0 else stable_end, aborted or [])


@dataclass(slots=True)
class RecordSearch:
    """How far the search around one position is. Done when `reading` is there.

    With `only_before`, the record before the position is all that is wanted.
    """

    position: LogPosition
    fetch_offset: int
    size: int = FIRST_SIZE
    only_before: bool = False
    isolation: int = READ_COMMITTED
    reading: Reading | None = None
    _before: int | None = None
    _log_start: int = UNKNOWN
    _empty_answers: int = 0
    _corrections: int = 0
    _stable_end: int = UNKNOWN

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
        if found.before is not None:
            self._before = found.before
        if found.first is not None:
            self._found(found.first, fetched)
            return
        if found.next_offset > self.fetch_offset:
            self.fetch_offset = found.next_offset
            self._empty_answers = 0
        elif self.fetch_offset < self._end(fetched):
            self._ask_for_more()
        if self.only_before and self.fetch_offset >= self.offset:
            self._nothing(fetched)
        elif self.fetch_offset >= self._end(fetched):
            self._reached_end(fetched)

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
            # Beyond the end: the log was truncated, or the topic is a new one of the same name.
            self.reading = Reading("none", end=self.position.offset)

    def refuse(self) -> None:
        """The leader says that this topic may not be read."""
        self.reading = Reading("not_authorised")

    def give_up(self) -> None:
        """No answer that helps."""
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

    def _found(self, first: int, fetched: Fetched) -> None:
        # Where nothing is decided yet, only a group that reads uncommitted records can be.
        if self.isolation == READ_COMMITTED or self._stable_end < self.position.offset:
            self.reading = Reading(
                "record", first=first, before=self._before, log_start=self._log_start
            )
        else:
            self._nothing(fetched, undecided_at=first)

    def _reached_end(self, fetched: Fetched) -> None:
        undecided = self.isolation == READ_COMMITTED and fetched.stable_end < fetched.end
        if undecided and not self.only_before:
            # What follows belongs to open transactions: it may become records.
            self.isolation, self._stable_end = READ_UNCOMMITTED, fetched.stable_end
        else:
            self._nothing(fetched)

    def _nothing(self, fetched: Fetched, undecided_at: int | None = None) -> None:
        self.reading = Reading(
            "none",
            before=self._before,
            log_start=self._log_start,
            end=fetched.end,
            undecided_at=undecided_at,
            stable_end=UNKNOWN if undecided_at is None else self._stable_end,
        )

    def _ask_for_more(self) -> None:
        self._empty_answers += 1
        self.size = min(self.size * _GROWTH, LARGEST_SIZE)
        if self._empty_answers > MOST_EMPTY_ANSWERS:
            self.give_up()
