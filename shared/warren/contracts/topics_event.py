"""`warren.topics`: all topics of a cluster, whether a group consumes them or not."""

from typing import ClassVar, Literal

from pydantic import Field

from warren.contracts.event import ClusterName, KeyedEvent, Moment, Offset


class TopicsEvent(KeyedEvent):
    """Where the logs of a cluster's topics end. The newest event has all of them."""

    topic_name: ClassVar[str] = "topics"

    v: Literal[1] = 1
    cluster: ClusterName
    observed_at: Moment
    log_ends: dict[str, list[Offset]] = Field(
        description="Log end offsets by topic and partition number; -1 where no leader told"
    )

    @property
    def about(self) -> tuple[str, str]:
        return self.cluster, ""

    @property
    def key(self) -> bytes:
        return self.cluster.encode()
