"""What the offsets topic says about one group: the newest record of each kind, member and regex.

Records are kept as bytes and decoded when somebody looks: of those that came between two looks only
the newest matter, and a storm of rebalances costs no more than a quiet group.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from warren_wire.records import (
    GROUP_METADATA,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    Skipped,
    decode_group_value,
)

CONSUMER_GROUP = 3
SHARE_GROUP = 11
STREAMS_GROUP = 17
# A group exists while it has one of these; the newest says which protocol it speaks.
HEADS = (GROUP_METADATA, CONSUMER_GROUP, SHARE_GROUP, STREAMS_GROUP)
# Kinds whose records' times are needed: the heads and the target assignments' metadata.
TIMED = frozenset({*HEADS, 6, 12, 20})
_NEW = 2  # the generation or epoch that a group has first, at most

Decoded = GroupMetadata | GroupRecord


@dataclass(slots=True)
class Stored:
    """A record's newest value. `time` is the record's, Unix ms; -1 unknown, or not of interest."""

    key: GroupKey
    raw_key: bytes
    partition: int
    value: bytes = b""
    offset: int = -1
    time: int = -1
    counted: bool = False
    is_pending: bool = False
    """Not decoded yet."""
    record: Decoded | None = None
    """The newest value that could be decoded, which may be an older one."""

    def replace(self, value: bytes, offset: int, *, counted: bool) -> None:
        self.value = value
        self.offset = offset
        self.counted = counted
        self.is_pending = True


@dataclass(frozen=True, slots=True)
class Rejected:
    """A value that turned out to be unusable when it was decoded."""

    stored: Stored
    problem: Malformed | Skipped


@dataclass(slots=True)
class Rebalances:
    """Counts generations (classic groups) and group epochs (the others) as they go by."""

    seen: int = 0
    last_at: int | None = None
    _epoch: int | None = None

    def begin(self, epoch: int, *, is_counted: bool) -> None:
        """The first that is known of the group: a rebalance if the group is new, else nothing.

        Later calls, of a group that changes its protocol, do nothing.
        """
        if self._epoch is None:
            self._epoch = max(epoch - 1, 0) if is_counted and epoch <= _NEW else epoch

    def observe(self, epoch: int, at: int | None) -> None:
        """`at`: when that generation or epoch was assigned, Unix ms."""
        if self._epoch is None:
            self._epoch = epoch
        if epoch != self._epoch:
            # A smaller one is of a group that was deleted and created anew.
            self.seen += epoch - self._epoch if epoch > self._epoch else max(epoch, 0)
            self._epoch = epoch
            self.last_at = at
        elif self.last_at is None:
            self.last_at = at


@dataclass(slots=True)
class GroupRecords:
    """One group. `is_headless`: it had lost its head already when it was last looked at.

    `has_news`: not all that is known of it was published by an earlier collector; `is_new`:
    nothing is.
    """

    name: str
    source_partition: int
    stored: dict[GroupKey, Stored] = field(default_factory=dict)
    rebalances: Rebalances = field(default_factory=Rebalances)
    is_headless: bool = False
    has_news: bool = False
    is_new: bool = False
    place: tuple[int, str] = field(init=False)
    """Source partition and name."""

    def __post_init__(self) -> None:
        self.place = self.source_partition, self.name

    def add(self, stored: Stored) -> None:
        """A record of a kind that was not there before."""
        self.stored[stored.key] = stored
        if stored.key.version in HEADS:
            decoded = decode_group_value(stored.key, stored.value)
            if isinstance(decoded, GroupMetadata | GroupRecord):
                self.rebalances.begin(epoch_of(decoded), is_counted=stored.counted)

    def remove(self, key: GroupKey) -> None:
        self.stored.pop(key, None)

    def decode(self, rejected: list[Rejected]) -> None:
        """Decodes what is new; what was unusable does not replace what was known."""
        for key, stored in self.stored.items():
            if stored.is_pending:
                stored.is_pending = False
                match decode_group_value(key, stored.value):
                    case Malformed() | Skipped() as problem:
                        rejected.append(Rejected(stored, problem))
                    case decoded:
                        stored.record = decoded

    def head(self) -> tuple[GroupKey, Stored, Decoded] | None:
        """The newest record that says that the group exists."""
        heads = [
            (key, stored, stored.record)
            for key, stored in self.stored.items()
            if key.version in HEADS and stored.record is not None
        ]
        return max(heads, key=lambda head: head[1].offset, default=None)

    def one(self, version: int, part: str = "") -> tuple[Stored, GroupRecord] | None:
        """The decoded record of a kind."""
        stored = self.stored.get(GroupKey(version, self.name, part))
        if stored is None or not isinstance(stored.record, GroupRecord):
            return None
        return stored, stored.record

    def parts(self, version: int) -> Iterator[tuple[str, GroupRecord]]:
        """The decoded records of a kind, by member id or regular expression."""
        for key, stored in self.stored.items():
            if key.version == version and isinstance(stored.record, GroupRecord):
                yield key.part, stored.record


def epoch_of(head: Decoded) -> int:
    """Generation of a classic group, epoch of another."""
    return head.generation if isinstance(head, GroupMetadata) else int(head.fields["epoch"])
