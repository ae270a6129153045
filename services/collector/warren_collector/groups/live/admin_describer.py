"""Coordinators, asked what their groups are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from warren.kafka.refusals import Refusals
from warren.settings import KafkaConnection
from warren_wire.brokers import Brokers
from warren_wire.layout import GROUP_NOT_AUTHORISED

from warren_collector.admin.group_admin import (
    GroupAdmin,
    ListedGroup,
    Refusal,
)
from warren_collector.groups.live.described import live_group
from warren_collector.groups.live.group import LiveGroup


class AdminDescriber:
    """For one thread: its event loop runs only within its methods.

    All raise ClusterUnreachable when no broker answers, AuthenticationFailed.
    """

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection) -> None:
        self._brokers = Brokers(cluster, setting, connection)
        self._admin = GroupAdmin(self._brokers)
        self._listed: dict[str, ListedGroup] = {}
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "group", "members are unknown")
        self._runner = asyncio.Runner()

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        listing = self._runner.run(self._admin.list())
        self._listed = listing.groups
        groups = {name: live_group(group, None) for name, group in listing.groups.items()}
        return groups, listing.is_complete

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        asked = [self._listed[group.name] for group in groups]
        answers = self._runner.run(self._admin.describe(asked))
        self._report(asked, answers)
        # What the list told is better than nothing.
        return [live_group(group, answers.get(group.name)) for group in asked]

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        return self._runner.run(self._admin.partition_counts(topics))

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    def _report(self, asked: Iterable[ListedGroup], answers: Mapping[str, object]) -> None:
        refused = (
            name
            for name, answer in answers.items()
            if isinstance(answer, Refusal) and answer.error == GROUP_NOT_AUTHORISED
        )
        self._refusals.observe(refused, asked=(group.name for group in asked))
