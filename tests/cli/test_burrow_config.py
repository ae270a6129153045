"""Burrow's tables in, Warren's out, and nothing lost without a word."""

from __future__ import annotations

from typing import Any

import pytest
from cli.burrow_toml import CLUSTER, FULL, SECRET, imported, remarks
from warren.errors import SettingsError
from warren.settings import Settings


def test_a_whole_configuration() -> None:
    tables = imported(FULL).tables
    assert tables["home"] == {"bootstrap": "home:9092"}
    assert tables["clusters"] == {
        "prod": {
            "bootstrap": "k1:9093,k2:9093",
            "offsets_topic": "__other_offsets",
            "groups_allow": ["^team-"],
            "groups_deny": ["^warren-", "^(console-consumer-|quick-).*$"],
            "source": ["offsets_topic", "zookeeper"],
            "zookeeper": "zk1:2181,zk2:2181/kafka-cluster",
            "kafka": {
                "client.id": "burrow-lag",
                "socket.connection.setup.timeout.ms": "5000",
                "socket.timeout.ms": "20000",
                "security.protocol": "SASL_SSL",
                "ssl.ca.location": "/etc/ssl/ca.pem",
                "ssl.certificate.location": "/etc/ssl/client.pem",
                "ssl.key.location": "/etc/ssl/client.key",
                "enable.ssl.certificate.verification": "false",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "burrow",
                "sasl.password": "hunter2",
            },
        }
    }
    assert tables["filters"] == {"groups_deny": ["^burrow-"]}
    assert tables["evaluation"] == {
        "policy": "burrow",
        "intervals": 15,
        "min_distance": 2,
        "expire_group": 86400,
        "minimum_complete": 0.5,
        "allowed_lag": 3,
    }
    assert tables["api"] == {
        "host": "10.0.0.1",
        "port": 8100,
        "without_token": "read",
        "tls_certificate": "/etc/ssl/web.pem",
        "tls_key": "/etc/ssl/web.key",
    }
    assert tables["log"] == {"level": "warning"}


def test_notifiers_become_routes_and_channels() -> None:
    notifier = imported(FULL).tables["notifier"]
    assert notifier["allow_networks"] == ["10.1.2.3/32"]
    every: dict[str, Any] = {
        "event_types": ["warren.group.status.changed"],
        "continue_matching": True,
    }
    assert notifier["routes"] == [
        {
            "name": "hook",
            "channels": ["hook"],
            "minimum_severity": "ERR",
            "send_resolved": True,
            "repeat_interval": 600,
            "groups_allow": ["^team-a"],
            **every,
        },
        {
            "name": "mail",
            "channels": ["mail"],
            "minimum_severity": "WARN",
            "send_resolved": False,
            "repeat_interval": 0,
            **every,
        },
    ]
    assert notifier["channels"] == {
        "hook": {
            "type": "webhook",
            "url": "http://10.1.2.3:1467/v1/event",
            "secret": SECRET,
            "timeout": 7,
            "headers": {"x-team": "data", "authorization": "Basic bWU6c2VjcmV0"},
            "ca_file": "/etc/ssl/hooks.pem",
        },
        "mail": {
            "type": "email",
            "host": "smtp.example.com",
            "port": 465,
            "tls": "tls",
            "username": "warren",
            "password": "pass",
            "sender": "burrow@example.com",
            "to": ["ops@example.com", "dev@example.com"],
        },
    }


def test_what_has_no_counterpart_is_listed() -> None:
    assert set(remarks(imported(FULL))) == {
        "general.pidfile",
        "general.access-control-allow-origin",
        "logging.filename",
        "zookeeper",
        "client-profile.secured.kafka-version",
        "client-profile.unused",
        "tls.internal.noverify",
        "cluster.prod.topic-refresh",
        "cluster.prod.offset-refresh",
        "consumer.prod.start-latest",
        "consumer.prod_zk.zookeeper-timeout",
        "httpserver.default.address",
        "httpserver.default.timeout",
        "httpserver.second",
        "storage.default.workers",
        "evaluator.mine.expire-cache",
        "notifier.hook.url-open",
        "notifier.hook.url-close",
        "notifier.hook.method-close",
        "notifier.hook.keepalive",
        "notifier.hook.extras",
        "notifier.hook.interval",
        "notifier.hook.template-open",
        "notifier.hook.template-close",
        "notifier.mail.template-open",
        "notifier.nothing.class-name",
    }


def test_a_key_that_nobody_knows_is_listed_wherever_it_is() -> None:
    told = remarks(imported(CLUSTER + 'rack = "a"\n[plugins]\nx = 1\n[logging]\ncolour = "red"\n'))
    assert told == {
        "cluster.local": "no consumer reads its offsets; Warren watches its groups all the same",
        "cluster.local.rack": "unknown here, left out",
        "logging.colour": "unknown here, left out",
        "plugins": "unknown here, left out",
    }


def test_defaults_are_burrows() -> None:
    tables = imported(CLUSTER + "[storage.default]\nclass-name = 'inmemory'\n").tables
    assert tables["evaluation"] == {
        "policy": "burrow",
        "intervals": 10,
        "min_distance": 0,
        "expire_group": 604800,
    }
    assert imported(CLUSTER).tables["evaluation"] == {"policy": "burrow", "min_distance": 0}


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        (":8000", {"host": "0.0.0.0", "port": 8000, "without_token": "read"}),
        ("[::1]:80", {"host": "::1", "port": 80}),
        ("localhost:0", {"host": "localhost", "port": 0}),
    ],
)
def test_addresses_of_the_http_server(address: str, wanted: dict[str, Any]) -> None:
    made = imported(f'{CLUSTER}[httpserver.default]\naddress = "{address}"\n')
    assert made.tables["api"] == wanted
    assert ("httpserver.default.address" in remarks(made)) == ("without_token" in wanted)


@pytest.mark.parametrize(
    ("origin", "taken"),
    [("*", True), ("https://a.example/", True), ("mysite.example.com", False), ("", None)],
)
def test_who_may_ask_from_a_page(origin: str, taken: bool | None) -> None:
    made = imported(f'{CLUSTER}[general]\naccess-control-allow-origin = "{origin}"\n')
    wanted = {"cors_origins": [origin.rstrip("/")]} if taken else None
    assert made.tables.get("api") == wanted
    assert ("general.access-control-allow-origin" in remarks(made)) == (taken is False)


def consumer(name: str, kind: str = "kafka", **lists: str) -> str:
    lines = [f'group-{which}list = "{expression}"' for which, expression in lists.items()]
    rows = [f'class-name = "{kind}"', 'cluster = "local"', 'servers = ["k:9092"]', *lines]
    return f"[consumer.{name}]\n" + "\n".join(rows) + "\n"


def test_consumers_of_one_cluster_let_through_what_either_does() -> None:
    made = imported(CLUSTER + consumer("a", allow="^x", deny="^d") + consumer("b", allow="^y"))
    assert made.tables["clusters"]["local"]["groups_allow"] == ["^x", "^y"]
    assert "groups_deny" not in made.tables["clusters"]["local"]
    assert "differ" in remarks(made)["cluster.local"]
    open_to_all = imported(CLUSTER + consumer("a", allow="^x") + consumer("b"))
    assert "groups_allow" not in open_to_all.tables["clusters"]["local"]
    same = imported(CLUSTER + consumer("a", deny="^d") + consumer("b", deny="^d"))
    assert same.tables["clusters"]["local"]["groups_deny"] == ["^warren-", "^d"]
    assert same.remarks == []


def test_groups_must_pass_the_storages_list_too() -> None:
    storage = '[storage.default]\nclass-name = "inmemory"\ngroup-allowlist = "-eu$"\n'
    made = imported(CLUSTER + consumer("a", allow="^team-") + storage).tables
    assert made["filters"] == {"groups_allow": ["-eu$"]}
    assert made["clusters"]["local"]["groups_allow"] == ["^team-"]


def test_offsets_in_zookeeper() -> None:
    alone = imported(CLUSTER + consumer("a", "kafka_zk") + 'zookeeper-path = "/"\n')
    cluster = Settings.model_validate(alone.tables).clusters["local"]
    assert (cluster.sources, cluster.zookeeper) == (["zookeeper"], "k:9092")
    two = imported(CLUSTER + consumer("a", "kafka_zk") + consumer("b", "kafka_zk"))
    assert two.tables["clusters"]["local"]["source"] == ["zookeeper"]
    assert remarks(two) == {
        "consumer.b": "left out, a cluster has one ZooKeeper: that of consumer.a"
    }


def test_an_expression_that_python_does_not_read_is_left_out_and_told() -> None:
    made = imported(CLUSTER + consumer("a", deny=r"^\\pL+$"))
    assert "groups_deny" not in made.tables["clusters"]["local"]
    assert remarks(made)["consumer.a.group-denylist"].startswith("left out, Python does not read")


def test_a_consumer_of_another_place_or_of_none() -> None:
    other = consumer("a").replace("k:9092", "else:9092") + 'client-profile = "x"\n'
    lost = consumer("b").replace('"local"', '"nowhere"')
    told = remarks(imported(CLUSTER + other + lost))
    assert told["consumer.a.servers"] == "left out, those of cluster.local are used"
    assert told["consumer.a.client-profile"] == "left out, that of cluster.local is used"
    assert told["consumer.b.cluster"] == "left out, there is no such cluster"


@pytest.mark.parametrize(
    ("profile", "protocol", "mechanism"),
    [
        ('tls = "t"', "SSL", None),
        ('sasl = "plain"', "SASL_PLAINTEXT", "PLAIN"),
        ('tls = "t"\nsasl = "scram"', "SASL_SSL", "SCRAM-SHA-256"),
    ],
)
def test_tls_and_sasl(profile: str, protocol: str, mechanism: str | None) -> None:
    made = imported(
        f'{CLUSTER}client-profile = "p"\n[client-profile.p]\n{profile}\n'
        '[tls.t]\n[sasl.plain]\nusername = "u"\npassword = "p"\n'
        '[sasl.scram]\nmechanism = "SCRAM-SHA-256"\nusername = "u"\n'
    )
    kafka = made.tables["clusters"]["local"]["kafka"]
    assert kafka["security.protocol"] == protocol
    assert kafka.get("sasl.mechanism") == mechanism
    assert ("sasl.scram.password" in remarks(made)) == (mechanism == "SCRAM-SHA-256")


def test_names_that_warren_does_not_allow_are_changed() -> None:
    made = imported('[cluster."my cluster"]\nclass-name = "kafka"\nservers = "a:1 b:2"\n')
    assert made.tables["clusters"]["my-cluster"] == {"bootstrap": "a:1,b:2"}
    assert any(text.startswith("called my-cluster") for _, text in made.remarks)


def test_values_where_tables_belong_are_listed() -> None:
    told = remarks(imported(CLUSTER + "[storage]\nworkers = 1\n[notifier]\nclass-name = 'http'\n"))
    assert {"storage.workers", "notifier.class-name"} <= told.keys()


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("", "cluster"),
        ("[cluster.local]\n", "cluster.local.servers"),
        ("[cluster.local]\nservers = 1\n", "cluster.local.servers"),
        (
            CLUSTER + '[consumer.z]\nclass-name = "kafka_zk"\ncluster = "local"\n',
            "consumer.z.servers",
        ),
        (CLUSTER + '[storage.s]\nintervals = "many"\n', "storage.s.intervals"),
        (CLUSTER + '[notifier.n]\nclass-name = "http"\nheaders = "x"\n', "notifier.n.headers"),
    ],
)
def test_values_that_burrow_would_refuse(text: str, setting: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        imported(text)
    assert refusal.value.setting == setting
