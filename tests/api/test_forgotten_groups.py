"""DELETE with a real broker and a real evaluator: gone, and back with the next commit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api.served_api import Api
from support.evaluator_process import Home
from support.offset_events import At, offset_event
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import OffsetEvent
from warren.settings import HomeSettings, Settings
from warren_api.home.cluster import HomeWriter
from warren_api.home.feed import Feed

pytestmark = pytest.mark.heavy

GROUP = "/v3/kafka/prod/consumer/billing"
NOW = SystemClock().now_ms()


@pytest.fixture
def home(broker: Any, unique: str, tmp_path: Path) -> Home:
    return Home(broker.bootstrap, unique, tmp_path)


@pytest.fixture
def api(home: Home) -> Iterator[Api]:
    settings = Settings(home=HomeSettings(bootstrap=home.bootstrap, topic_prefix=home.prefix))
    served = Api(settings=settings, asking=HomeWriter(settings.home).write)
    failures: list[Exception] = []
    feed = Feed(settings.home, served.model, SystemClock(), failures.append)
    feed.start()
    eventually(lambda: feed.state.ready, message="the feed is ready")
    yield served
    feed.stop()
    assert failures == []


def told(second: int, commits: int, group: str = "billing") -> OffsetEvent:
    """Orders and quiet, both with lag; the heartbeats tell what was committed last."""
    at = At(100 + second * commits, NOW + 1000 * second * commits, 50, commits=commits)
    return offset_event(NOW + 1000 * second, {"orders": {0: at}, "quiet": {0: at}}, group=group)


def test_forgotten_until_the_next_commit(home: Home, api: Api) -> None:
    def tell(second: int, commits: int) -> None:
        """And later of another group, so that it shows when the API has seen all of it."""
        events.send(told(second, commits))
        events.flush()
        home.await_caught_up()
        events.send(told(second, 1, "marker"))
        events.flush()
        eventually(lambda: evaluated("marker") == NOW + 1000 * second, message="it is judged")

    def evaluated(group: str) -> int:
        view = api.model.group("prod", group)
        return view.event.evaluated_at if view else -1

    def topics() -> list[str]:
        return list(api.get(GROUP).json().get("topics", {}))

    events = home.events()
    with home.worker() as worker:
        worker.start().await_ready()
        tell(0, 1)
        eventually(lambda: topics() == ["orders", "quiet"], message="the group is known")

        assert api.request("DELETE", f"{GROUP}/topic/quiet").status_code == 200
        eventually(lambda: topics() == ["orders"], message="the topic is gone")
        assert api.request("DELETE", GROUP).status_code == 200
        eventually(lambda: api.get(GROUP).status_code == 404, message="the group is gone")

        tell(3, 0)
        worker.kill()
        worker.start().await_ready()
        tell(4, 0)
        assert api.get(GROUP).status_code == 404
        assert api.get("/v3/kafka/prod/consumer").json()["consumers"] == ["marker"]

        tell(5, 1)
        eventually(lambda: topics() == ["orders", "quiet"], message="it is back")
        (window,) = api.get(GROUP).json()["topics"]["orders"]
        assert [slot and slot["offset"] for slot in window["offsets"]] == [None] * 9 + [105]
