"""Burrow's clusters, filters and intervals become Warren's; what is left out is listed."""

import tomllib
from typing import Any

import pytest
from warren.errors import SettingsError
from warren.settings import Settings
from warren_cli.burrow_config import Imported, import_burrow

FULL = """
[logging]
level = "warn"

[client-profile.secured]
client-id = "burrow-lag"
tls = "internal"
sasl = "scram"

[cluster.Prod]
class-name = "kafka"
servers = ["k1:9093", "k2:9093"]
client-profile = "secured"

[consumer.prod]
class-name = "kafka"
cluster = "prod"
servers = ["k2:9093", "k1:9093"]
offsets-topic = "__other_offsets"
group-denylist = "^quick-"
group-allowlist = "^team-"

[consumer.prod_zk]
class-name = "kafka_zk"
cluster = "prod"
servers = ["zk1:2181", "zk2:2181"]
zookeeper-path = "/kafka-cluster"
group-denylist = "^quick-"
group-allowlist = "^team-"

[storage.default]
intervals = 300
expire-group = 86400
min-distance = 2
group-denylist = "^burrow-"

[evaluator.mine]
minimum-complete = 0.5
allowed-lag = 3

[notifier.hook]
class-name = "http"
"""
CLUSTER = '[cluster.local]\nclass-name = "kafka"\nservers = ["k:9092"]\n'


def imported(text: str) -> Imported:
    made = import_burrow(tomllib.loads(text), "home:9092")
    Settings.model_validate(made.tables)  # it loads
    return made


def local(text: str) -> tuple[dict[str, Any], list[str]]:
    """The cluster `local` with what the text adds, and what is said of it."""
    made = imported(CLUSTER + text)
    return made.tables["clusters"]["local"], made.remarks


def consumer(name: str, kind: str = "kafka", **lists: str) -> str:
    lines = [f"group-{which}list = '{expression}'" for which, expression in lists.items()]
    rows = [f'class-name = "{kind}"', 'cluster = "local"', 'servers = ["k:9092"]', *lines]
    return f"[consumer.{name}]\n" + "\n".join(rows) + "\n"


def test_a_whole_configuration() -> None:
    assert imported(FULL) == (
        {
            "home": {"bootstrap": "home:9092"},
            "clusters": {
                "prod": {
                    "bootstrap": "k1:9093,k2:9093",
                    "offsets_topic": "__other_offsets",
                    "groups_allow": ["^team-"],
                    "groups_deny": ["^warren-", "^quick-"],
                    "source": ["offsets_topic", "zookeeper"],
                    "zookeeper": "zk1:2181,zk2:2181/kafka-cluster",
                }
            },
            "filters": {"groups_deny": ["^burrow-"]},
            "evaluation": {
                "policy": "burrow",
                "intervals": 255,
                "min_distance": 2,
                "expire_group": 86400,
                "minimum_complete": 0.5,
                "allowed_lag": 3,
            },
        },
        [
            "cluster.prod: secured is left out: write its login, with librdkafka's names, to "
            "[clusters.prod.kafka]",
            "storage.default.intervals: 255 is the most",
            "logging: left out: see docs/migration-from-burrow.md",
            "notifier: left out: see docs/migration-from-burrow.md",
        ],
    )


def test_defaults_are_burrows() -> None:
    assert imported(CLUSTER).tables["evaluation"] == {"policy": "burrow", "min_distance": 0}


@pytest.mark.parametrize(
    ("consumers", "wanted", "said"),
    [
        (
            consumer("a", allow="^x", deny="^d") + consumer("b", allow="^y"),
            {"groups_allow": ["^x", "^y"]},
            "cluster.local: its consumers' lists differ",
        ),
        (consumer("a", allow="^x") + consumer("b"), {}, "cluster.local: its consumers' lists"),
        (
            consumer("a", deny="^d") + consumer("b", deny="^d"),
            {"groups_deny": ["^warren-", "^d"]},
            "",
        ),
        (consumer("a", deny=r"^\pL+$"), {}, "consumer.a.groups_deny: left out: Python does not"),
        (
            consumer("a", "kafka_zk") + consumer("b", "kafka_zk"),
            {"source": ["zookeeper"], "zookeeper": "k:9092"},
            "consumer.b: left out: a cluster has one ZooKeeper",
        ),
    ],
)
def test_what_consumers_of_a_cluster_say(consumers: str, wanted: dict[str, Any], said: str) -> None:
    cluster, remarks = local(consumers)
    assert cluster == {"bootstrap": "k:9092", **wanted}
    assert len(remarks) == bool(said)
    assert all(remark.startswith(said) for remark in remarks)


def test_names_that_warren_does_not_allow_are_changed() -> None:
    made = imported('[cluster."my cluster"]\nservers = "a:1 b:2"\n')
    assert made.tables["clusters"] == {"my-cluster": {"bootstrap": "a:1,b:2"}}
    assert made.remarks[0].startswith("cluster.my cluster: called my-cluster")


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("", "cluster"),
        ("[cluster.local]\n", "cluster.local.servers"),
        ("[cluster.local]\nservers = 1\n", "cluster.local.servers"),
        (CLUSTER + '[consumer.z]\nclass-name = "kafka_zk"\ncluster = "local"\n', "consumer.z.serv"),
        (CLUSTER + '[storage.s]\nintervals = "many"\n', "storage.s.intervals"),
    ],
)
def test_values_that_burrow_would_refuse(text: str, setting: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        imported(text)
    assert refusal.value.setting.startswith(setting)
