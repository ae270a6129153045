"""Two Warrens watch the same cluster: neither takes anything from the other."""

import dataclasses
from typing import Any

import pytest
import support.coordinator_records as encode
from structlog.testing import capture_logs
from support.collector_lab import CLUSTER, Events, Lab
from warren.metrics.collector import COLLECTOR_FOREIGN_MEMBERS
from warren.settings import ClusterSettings, CollectorSettings, HomeSettings, Settings

pytestmark = pytest.mark.heavy

SOURCE_PARTITIONS = 4
GROUPS = 12
NOW = 1_795_244_400_000


class Watched:
    """An offsets topic with groups in each of its partitions."""

    def __init__(self, lab: Lab) -> None:
        self.source = lab.create_topic("source", SOURCE_PARTITIONS)
        self.groups = {f"{lab.name}-{number}" for number in range(GROUPS)}
        self._lab = lab
        self._topic = lab.create_topic("orders")

    def commit(self, offset: int) -> None:
        """By every group."""
        for number, group in enumerate(sorted(self.groups)):
            record = (
                encode.offset_key(group, self._topic, 0),
                encode.offset_value(offset, NOW + offset),
            )
            self._lab.produce(self.source, [record], number % SOURCE_PARTITIONS)

    def all_at(self, events: Events, offset: int) -> bool:
        return all(events.committed(g) == {(self._topic, 0): offset} for g in self.groups)

    def settings(self, collector: CollectorSettings, instance: str) -> Settings:
        """Defaults, but for names of the test's own and a quicker tick."""
        watched = {
            "bootstrap": self._lab.bootstrap,
            "offsets_topic": self.source,
            "groups_allow": [self._lab.name],
        }
        return Settings(
            home=HomeSettings(bootstrap=self._lab.bootstrap, partitions=2, instance=instance),
            clusters={CLUSTER: ClusterSettings.model_validate(watched)},
            collector=collector,
        )


QUICK = CollectorSettings(interval=0.2, heartbeat=1)


def lab_of(lab: Lab, name: str) -> Lab:
    """Of the Warren of that name."""
    return dataclasses.replace(lab, name=name)


def test_another_warren_in_the_own_group_is_told(lab: Lab) -> None:
    watched = Watched(lab)
    one, two = (lab_of(lab, f"{lab.name}-{name}") for name in ("a", "b"))
    same = QUICK.model_copy(update={"group_id": f"{lab.name}-shared"})

    def settings_of(warren: Lab) -> Settings:
        return watched.settings(same, instance=warren.name)

    def told(events: Events) -> Any:
        return events.cluster_states() == {CLUSTER: "partial"} and events.problem(CLUSTER)

    with capture_logs() as lines, one.ready(settings_of(one)):
        first = one.events()
        first.until(lambda: first.cluster_states() == {CLUSTER: "ok"}, "alone, all is well")
        with two.ready(settings_of(two)):
            second = two.events()
            first.until(lambda: told(first), "the first one tells")
            second.until(lambda: told(second), "the second one tells")
            problem = first.problem(CLUSTER)
            assert f"in our group {lab.name}-shared ({two.name}-collector-" in problem
            assert "see home.instance" in problem
            assert COLLECTOR_FOREIGN_MEMBERS.labels(CLUSTER)._value.get() == 1
        first.until(lambda: first.cluster_states() == {CLUSTER: "ok"}, "alone again")
    warnings = [line["event"] for line in lines if line["log_level"] == "warning"]
    assert warnings == ["another Warren is in our consumer group"] * 2  # one line of each


def test_both_see_every_commit_of_every_group(lab: Lab) -> None:
    """Before and after the other one came."""
    watched = Watched(lab)
    one, two = (lab_of(lab, f"{lab.name}-{name}") for name in ("a", "b"))
    with one.ready(watched.settings(QUICK, instance=one.name)):
        first = one.events()
        watched.commit(1)
        first.until(lambda: watched.all_at(first, 1), "the first Warren sees all groups")
        with two.ready(watched.settings(QUICK, instance=two.name)):
            second = two.events()
            second.until(lambda: watched.all_at(second, 1), "the second Warren sees all groups")
            for offset in (2, 3):
                watched.commit(offset)
                for events in (first, second):
                    events.until(
                        lambda e=events, o=offset: watched.all_at(e, o),  # type: ignore[misc]
                        f"both see commit {offset} of all groups",
                    )
        watched.commit(4)
        first.until(lambda: watched.all_at(first, 4), "the first one sees all groups again")
