from pathlib import Path
from typing import Any

import pytest
from warren.errors import SettingsError
from warren.settings import EvaluationSettings, Settings
from warren_core.evaluation import RuleBook
from warren_local.plan import DemoPorts, Options, Plan, make_plan
from warren_local.up import run_state


def plan(options: Options | None = None, **tables: Any) -> Plan:
    return make_plan(
        Settings(**tables), options or Options(), demo_ports=DemoPorts(20_000, 20_001, 20_002)
    )


def test_without_anything_a_demo_runs_on_an_embedded_broker() -> None:
    made = plan()
    assert (made.kafka, made.valkey, made.demo, made.cluster) == (True, True, True, "demo")
    assert list(made.settings.clusters) == ["demo"]
    assert made.settings.clusters["demo"].bootstrap == "127.0.0.1:9092"
    assert made.settings.home.bootstrap == "127.0.0.1:9092"
    assert made.settings.redis.url.get_secret_value() == "redis://127.0.0.1:6379/0"
    assert [port.number for port in made.ports()] == [8000, 9092, 6379]
    assert made.settings.probe.host == "127.0.0.1"
    assert plan(probe={"host": "10.0.0.1"}).settings.probe.host == "10.0.0.1"


def test_the_demo_is_judged_in_short_intervals_unless_they_are_set() -> None:
    made = plan(collector={"interval": 3.0}, evaluation={"minimum_complete": 1.0})
    assert made.settings.collector.interval == 3.0
    assert made.settings.collector.heartbeat == 1.0
    assert made.settings.collector.metrics_port == 20_000
    assert made.settings.evaluation.minimum_complete == 1.0
    assert plan(collector={"metrics_port": 5}).settings.collector.metrics_port == 5


def test_a_cluster_of_ones_own_is_monitored_with_the_usual_intervals() -> None:
    made = plan(Options(bootstrap="kafka:9092"))
    assert (made.kafka, made.valkey, made.demo, made.cluster) == (False, True, False, "default")
    assert made.settings.clusters["default"].bootstrap == "kafka:9092"
    assert made.settings.home.bootstrap == "kafka:9092"
    assert made.settings.collector == Settings().collector
    assert made.settings.evaluation == EvaluationSettings()
    assert [port.number for port in made.ports()] == [8000, 6379]


def test_demo_groups_are_judged_by_burrow_unless_a_policy_is_set() -> None:
    """The demo's groups play the statuses of Burrow's rules, and nobody else does."""
    demo = RuleBook(plan().settings.evaluation)
    assert demo.rules_for("demo", "demo-stalled").group.policy == "burrow"
    assert demo.rules_for("demo", "orders").group.policy == "progress"
    named = plan(evaluation={"policy": "burrow"}).settings.evaluation
    assert (named.policy, named.overrides) == ("burrow", [])
    own = [{"groups": ["^demo-slow$"], "policy": "progress"}, {"groups": ["^ign-"], "ignore": True}]
    both = RuleBook(plan(evaluation={"overrides": own}).settings.evaluation)
    rules = [both.rules_for("demo", name).group for name in ("demo-slow", "demo-stalled", "ign-a")]
    assert [each.policy for each in rules] == ["progress", "burrow", "progress"]
    assert rules[2].ignore


def test_another_home_is_used_when_named() -> None:
    made = plan(Options(bootstrap="kafka:9092", home_bootstrap="home:9092"))
    assert made.settings.home.bootstrap == "home:9092"
    assert not made.kafka
    assert (
        plan(Options(bootstrap="a:1"), home={"bootstrap": "b:2"}).settings.home.bootstrap == "b:2"
    )


@pytest.mark.parametrize(
    ("options", "home", "draws"),
    [
        (Options(), {}, False),
        (Options(bootstrap="a:1"), {}, True),
        (Options(bootstrap="a:1", home_bootstrap="b:2"), {}, False),
        (Options(bootstrap="a:1"), {"bootstrap": "b:2"}, False),
        (Options(bootstrap="a:1", instance="mine"), {}, False),
        (Options(bootstrap="a:1"), {"instance": "warren"}, False),
        (Options(bootstrap="a:1"), {"topic_prefix": "mine."}, False),
    ],
)
def test_a_name_is_drawn_where_another_warren_may_be_at_home(
    options: Options, home: dict[str, str], draws: bool
) -> None:
    assert plan(options, home=home).draws_name == draws


def test_the_name_goes_before_all_that_is_shared() -> None:
    drawn = plan(Options(bootstrap="a:1")).called("warren-3fa9c1")
    assert not drawn.draws_name
    assert drawn.settings.home.topic_prefix == "warren-3fa9c1."
    assert plan(Options(bootstrap="a:1", instance="b")).settings.home.topic_prefix == "b."
    with pytest.raises(SettingsError, match="--instance"):
        plan(Options(instance="a b"))


def test_addresses_on_the_command_line_are_host_and_port() -> None:
    with pytest.raises(SettingsError, match=r"^--bootstrap: .*kafka-1:9092"):
        plan(Options(bootstrap="kafka:9092/"))
    with pytest.raises(SettingsError, match=r"^--home-bootstrap: .*kafka-1:9092"):
        plan(Options(bootstrap="kafka:9092", home_bootstrap="home"))


def test_home_is_reached_as_the_cluster_is() -> None:
    secured = {"bootstrap": "old:1", "kafka": {"sasl.password": "secret"}, "groups_allow": ["x"]}
    made = plan(Options(bootstrap="new:2", cluster="prod"), clusters={"prod": secured})
    assert made.settings.clusters["prod"].bootstrap == "new:2"
    assert made.settings.clusters["prod"].groups_allow == ["x"]
    assert made.settings.home.librdkafka() == {
        "bootstrap.servers": "new:2",
        "sasl.password": "secret",
    }


def test_a_given_cluster_comes_in_addition_to_those_of_the_file() -> None:
    made = plan(Options(bootstrap="kafka:9092"), clusters={"prod": {"bootstrap": "p:1"}})
    assert {name: at.bootstrap for name, at in made.settings.clusters.items()} == {
        "prod": "p:1",
        "default": "kafka:9092",
    }


def test_clusters_of_the_file_are_monitored_from_an_embedded_home() -> None:
    made = plan(clusters={"prod": {"bootstrap": "p:1"}})
    assert (made.kafka, made.demo, made.cluster) == (True, False, "prod")
    assert made.settings.home.bootstrap == "127.0.0.1:9092"
    assert list(made.settings.clusters) == ["prod"]


def test_with_clusters_and_home_in_the_file_no_broker_is_embedded() -> None:
    tables = {"clusters": {"prod": {"bootstrap": "p:1"}}, "home": {"bootstrap": "h:1"}}
    made = plan(**tables, redis={"url": "redis://r:1/0"})
    assert (made.kafka, made.valkey, made.demo) == (False, False, False)
    assert [port.number for port in made.ports()] == [8000]


def test_a_name_without_an_address_must_be_in_the_file() -> None:
    tables = {"clusters": {"prod": {"bootstrap": "p:1"}, "test": {"bootstrap": "t:1"}}}
    assert plan(Options(cluster="test"), **tables).cluster == "test"
    with pytest.raises(SettingsError, match="--cluster"):
        plan(Options(cluster="other"), **tables)


def test_the_api_needs_a_port_that_can_be_told() -> None:
    with pytest.raises(SettingsError, match=r"api\.port"):
        plan(api={"port": 0})


def test_the_run_file_has_endpoints_that_can_be_dialled_and_no_password() -> None:
    made = plan(api={"host": "0.0.0.0"}, redis={"url": "rediss://user:secret@cache:6380/1"})
    state = run_state(made)
    assert state.api == "http://127.0.0.1:8000"
    assert state.redis == "cache:6380"
    assert (state.kafka, state.home_kafka, state.cluster) == (
        "127.0.0.1:9092",
        "127.0.0.1:9092",
        "demo",
    )


def test_reports_are_where_there_is_an_archive(tmp_path: Path) -> None:
    local = {"state_dir": str(tmp_path)}
    assert plan(local=local).settings.api.reports_dir == str(tmp_path / "reports")
    elsewhere = {"reports_dir": "elsewhere"}
    assert plan(local=local, api=elsewhere).settings.api.reports_dir == "elsewhere"
    assert plan(Options(without=("archiver",)), api=elsewhere).settings.api.reports_dir == ""
    assert plan(local=local, api={"reports_dir": ""}).settings.api.reports_dir == ""


def test_what_the_others_need_is_not_left_out() -> None:
    with pytest.raises(SettingsError, match="'collector' is none of freshness, notifier, archiver"):
        plan(Options(without=("archiver", "collector")))
