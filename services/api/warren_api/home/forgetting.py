"""Requests to forget a group, on the topic that the evaluators read."""

from __future__ import annotations

from warren.contracts import OffsetEvent, group_key
from warren.contracts.topics import OFFSETS
from warren.settings import HomeSettings

from warren_api.home.writer import HomeWriter


class ForgetRequests:
    """What is asked of the evaluators."""

    def __init__(self, home: HomeSettings) -> None:
        self._writer = HomeWriter(home)

    def forget(self, cluster: str, group: str, topics: list[str], until: int) -> None:
        """What these topics, or all of the group's, committed up to `until` (Unix milliseconds).

        Returns when the broker has the request. Raises PublishFailed.
        """
        self.send(_request(cluster, group, topics, until))

    def send(self, request: OffsetEvent) -> None:
        """Returns when the broker has it. Raises PublishFailed."""
        key = group_key(request.cluster, request.group)
        self._writer.write(OFFSETS, key, request.to_bytes())


def _request(cluster: str, group: str, topics: list[str], until: int) -> OffsetEvent:
    """Of no position: whoever else reads the topic takes it for older than what it knows."""
    return OffsetEvent(
        cluster=cluster,
        group=group,
        source="offsets_topic",
        observed_at=until,
        position=-1,
        forget=topics,
    )
