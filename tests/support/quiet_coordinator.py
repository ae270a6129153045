"""A coordinator that is asked about groups and has nothing to say: events are what records tell."""

from warren.contracts import GroupEvent
from warren_collector.groups.live.groups import News

NO_NEWS = News(frozenset(), frozenset())


class QuietCoordinator:
    """In the place of LiveGroups. Tests set what is `news` once, and what it adds to events."""

    def __init__(self) -> None:
        self.news = NO_NEWS
        self.adds: dict[str, object] = {}

    def poll(self) -> News:
        news, self.news = self.news, NO_NEWS
        return news

    def complete(self, event: GroupEvent) -> GroupEvent:
        return event.model_copy(update=self.adds) if self.adds else event

    def knows(self, _group: str) -> bool:
        return False

    def shard_of(self, _group: str) -> int:
        return 0
