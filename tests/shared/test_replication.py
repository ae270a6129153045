"""How many replicas Warren's topics get, and what `warren topics check` says about them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka.admin import AdminClient
from conftest import Broker
from support.waiting import eventually
from typer.testing import CliRunner
from warren.contracts.topics import CATALOGUE
from warren.kafka.connection import connect
from warren.kafka.topics import TopicsCheck, check_topics, ensure_topics
from warren.settings import HomeSettings
from warren_cli.commands.topics import app
from warren_local.kafka import EmbeddedKafka

pytestmark = pytest.mark.heavy

TOPICS = len(CATALOGUE)


def checked(home: HomeSettings) -> TopicsCheck:
    """After creating them."""
    admin = connect("home", "home", home)
    assert len(ensure_topics(admin, home)) == TOPICS
    return check_topics(admin, home)


def test_the_cluster_decides_by_default(
    two_brokers: tuple[EmbeddedKafka, EmbeddedKafka], unique: str, tmp_path: Path
) -> None:
    first, second = two_brokers
    admin = AdminClient({"bootstrap.servers": first.bootstrap, "log_level": 0})
    eventually(lambda: len(admin.list_topics(timeout=60).brokers) == 2, message="both are there")
    bootstrap = f"{first.bootstrap},{second.bootstrap}"
    default = HomeSettings(bootstrap=bootstrap, topic_prefix=f"{unique}.")
    found = checked(default)
    assert found.problems == []
    assert found.replication == [
        f"{TOPICS} topics: replication factor 2 (wanted: the cluster's default), "
        "min.insync.replicas 1 (wanted: the cluster's default)"
    ]
    assert len(found.warnings) == TOPICS
    assert "may count as written while only one broker has it" in found.warnings[0]
    # Two of everything, as the settings say.
    of_two = {"replication_factor": 2, "min_insync_replicas": 2}
    found = checked(default.model_copy(update=of_two | {"topic_prefix": f"{unique}-safe."}))
    assert (found.problems, found.warnings) == ([], [])
    assert "min.insync.replicas 2 (wanted: 2)" in found.replication[0]
    # One of each was the default once: said, and a difference where the settings want two.
    bare = default.model_copy(update={"replication_factor": 1, "topic_prefix": f"{unique}-bare."})
    assert "replication factor is 1 on a cluster of 2 brokers" in checked(bare).warnings[0]
    strict = bare.model_copy(update=of_two)
    problems = eventually(
        lambda: found if len(found := check_topics(admin, strict).problems) == 2 * TOPICS else [],
        message="each topic differs twice",
    )
    assert "replication factor is 1, home.replication_factor says 2" in problems[0]
    assert "min.insync.replicas is 1, home.min_insync_replicas says 2" in problems[1]
    config = tmp_path / "warren.toml"
    config.write_text(f'[home]\nbootstrap = "{bootstrap}"\ntopic_prefix = "{unique}-bare."\n')
    said = CliRunner().invoke(app, ["check", "--config", str(config)])
    assert said.exit_code == 0
    assert "replication factor 1 (wanted: the cluster's default)" in said.output
    assert said.output.count("warning: ") == TOPICS


def test_topics_that_cannot_be_written_are_a_problem(broker: Broker, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.")
    found = checked(home.model_copy(update={"min_insync_replicas": 2}))
    assert len(found.problems) == TOPICS
    assert "min.insync.replicas is 2, but the replication factor is 1" in found.problems[0]
    assert found.warnings == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"replication_factor": 0},
        {"replication_factor": -2},
        {"replication_factor": 2, "min_insync_replicas": 3},
    ],
)
def test_what_can_never_work_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"replica|greater than or equal to"):
        HomeSettings(**wrong)  # type: ignore[arg-type]  # as TOML gives them


class ForgetfulCluster:
    """Two brokers of which the one that is asked first has not heard of the topics."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self._asked = 0

    def list_topics(self, **how: Any) -> Any:
        self._asked += 1
        known = self._admin.list_topics(**how)
        return SimpleNamespace(brokers=known.brokers, topics={}) if self._asked < 3 else known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._admin, name)


def test_a_broker_that_has_not_heard_of_them_is_asked_again(broker: Broker, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.")
    admin = connect("home", "home", home)
    ensure_topics(admin, home)
    assert check_topics(cast("AdminClient", ForgetfulCluster(admin)), home).problems == []
