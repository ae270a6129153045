"""Reading whole topics from the beginning, without a consumer group: how state is rebuilt."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

from warren.clock import SystemClock
from warren.contracts.topics import Topic
from warren.errors import TopicMissing
from warren.kafka.connection import new_client
from warren.kafka.hearing import hearing_of
from warren.kafka.topics import HOME, home_error
from warren.settings import HomeSettings

# Catching up: whether what was in partitions when they were first read has been read.


Place = tuple[str, int]
"""Topic and partition."""


class CatchingUp:
    """Of a consumer's partitions. Whoever polls tells of each record, and of each end."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._behind: set[Place] = set()
        self._ends: dict[Place, int] = {}

    def begin(self, places: Iterable[Place]) -> None:
        """These are read from now on."""
        for place in places:
            self._ends.pop(place, None)
            self._behind.add(place)

    def end(self, places: Iterable[Place]) -> None:
        """The ends of these are reached, or they are not read any more."""
        for place in places:
            self._ends.pop(place, None)
            self._behind.discard(place)

    def read(self, place: Place, offset: int) -> None:
        """A record has come."""
        if place not in self._behind:
            return
        end = self._ends.get(place)
        if end is None:
            end = self._high_watermark(place)
            if end < 0:
                return
            self._ends[place] = end
        if offset + 1 >= end:
            self.end((place,))

    def is_behind(self, place: Place) -> bool:
        return place in self._behind

    @property
    def is_done(self) -> bool:
        return not self._behind

    def _high_watermark(self, place: Place) -> int:
        """As it came with the records; negative when none has."""
        _, end = self._consumer.get_watermark_offsets(TopicPartition(*place), cached=True)
        return int(end)


BATCH = 1000


class TopicReader:
    """Reads topics of the home cluster, or only some partitions of them, from the beginning and on
    with what comes.

    Raises TopicMissing, ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
    """

    def __init__(
        self,
        home: HomeSettings,
        topics: Sequence[str],
        timeout: float = 10.0,
        partitions: Collection[int] | None = None,
        since: int | None = None,
    ) -> None:
        """`since`: from records of that time on, Unix milliseconds, not from the beginning."""
        self._consumer = new_client(
            Consumer,
            HOME,
            HOME,
            home,
            # librdkafka wants one; nothing is ever committed to it.
            group_id=home.installation.group("reader"),
            enable_auto_commit=False,
            enable_auto_offset_store=False,
            enable_partition_eof=True,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            fetch_message_max_bytes=4 * 2**20,
        )
        self._catching_up = CatchingUp(self._consumer)
        self._hearing = hearing_of(self._consumer, topics[0], HOME, HOME, home, SystemClock())
        try:
            self._assign(topics, timeout, partitions, since)
        except KafkaException as error:
            self._consumer.close()
            raise home_error(error.args[0]) from None
        except TopicMissing:
            self._consumer.close()
            raise

    def _assign(
        self,
        topics: Sequence[str],
        timeout: float,
        only: Collection[int] | None,
        since: int | None,
    ) -> None:
        partitions: list[TopicPartition] = []
        for name in topics:
            metadata = self._consumer.list_topics(name, timeout=timeout).topics[name]
            if metadata.error is not None:
                raise home_error(metadata.error)
            partitions += [
                TopicPartition(name, number, OFFSET_BEGINNING)
                for number in metadata.partitions
                if only is None or number in only
            ]
        self._catching_up.begin((each.topic, each.partition) for each in partitions)
        if since is not None:
            # The first offsets of that time, or the log ends of now.
            for partition in partitions:
                partition.offset = since
            found: list[TopicPartition] = self._consumer.offsets_for_times(
                partitions, timeout=timeout
            )
            for partition in found:
                if partition.error is not None:
                    raise home_error(partition.error)
                if partition.offset < 0:
                    _, partition.offset = self._consumer.get_watermark_offsets(partition, timeout)
            partitions = found
        self._consumer.assign(partitions)

    @property
    def caught_up(self) -> bool:
        """Whether all that was there when it was begun has been read, of every partition."""
        return self._catching_up.is_done

    def poll(self, timeout: float) -> list[Message]:
        """Records that have arrived, at most 1,000; waits up to `timeout` seconds for the first.

        Raises the classified error when the broker refuses, and ClientLost; a broker that is away
        only delays.
        """
        records: list[Message] = []
        messages = self._consumer.consume(BATCH, timeout)
        self._hearing.follow(heard=bool(messages))
        for message in messages:
            error, place = message.error(), (message.topic() or "", message.partition() or 0)
            if error is None:
                records.append(message)
                self._catching_up.read(place, message.offset() or 0)
            elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                self._catching_up.end((place,))
            elif not error.retriable():
                raise home_error(error)
        return records

    def close(self) -> None:
        self._consumer.close()


def newest_values(
    home: HomeSettings,
    topic: Topic,
    partitions: Collection[int],
    is_enough: Callable[[], bool] = lambda: False,
) -> dict[int, dict[bytes, bytes]]:
    """By partition and key, of these partitions of a topic of Warren's, read to their ends or until
    it is enough; without keys whose newest record is a tombstone. Blocks; raises as TopicReader.
    """
    newest: dict[int, dict[bytes, bytes]] = {each: {} for each in partitions}
    name = topic.full_name(home.topic_prefix)
    with closing(TopicReader(home, [name], partitions=partitions)) as reader:
        while not reader.caught_up and not is_enough():
            for record in reader.poll(0.5):
                of_partition, key = newest[record.partition() or 0], record.key() or b""
                of_partition.pop(key, None)
                if (value := record.value()) is not None:
                    of_partition[key] = value
    return newest
