"""Settings: where they come from, and that refusals name the setting and the fix."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiokafka.conn import collect_hosts
from pydantic import BaseModel
from warren.errors import SettingsError
from warren.refused_words import words_of
from warren.settings import ClusterSettings, KafkaConnection, Settings, shares_offsets_topic
from warren.settings_file import load_settings
from warren_notifier.channels.configured import kinds


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("WARREN_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "warren.toml"
    file.write_text(text)
    return file


def test_a_byte_order_mark_is_no_setting(tmp_path: Path) -> None:
    file = write(tmp_path, '\ufeff[home]\nbootstrap = "kafka:1"\n')
    assert load_settings(file).home.bootstrap == "kafka:1"


def test_defaults_without_any_file() -> None:
    settings = load_settings()
    assert settings.home.bootstrap == "localhost:9092"
    assert (settings.evaluation.policy, settings.evaluation.intervals) == ("progress", 10)
    assert settings.clusters == {}


def test_the_file_in_the_working_directory_is_found(tmp_path: Path) -> None:
    write(tmp_path, "[api]\nport = 8123\n")
    assert load_settings().api.port == 8123


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, '[api]\nport = 8123\nhost = "::1"\n[clusters.prod]\nbootstrap = "a:1"\n')
    monkeypatch.setenv("WARREN_API__PORT", "8456")
    monkeypatch.setenv("WARREN_CLUSTERS__PROD__KAFKA__SASL_PASSWORD", "pw")
    monkeypatch.setenv("WARREN_CLUSTERS__EU__BOOTSTRAP", "b:2")
    monkeypatch.setenv("WARREN_CLUSTERS__EU__GROUPS_ALLOW", '["^pay", "^bill"]')
    settings = load_settings(file)
    assert (settings.api.port, settings.api.host) == (8456, "::1")
    assert settings.clusters["prod"].librdkafka() == {
        "bootstrap.servers": "a:1",
        "sasl.password": "pw",
    }
    assert settings.clusters["eu"].groups_allow == ["^pay", "^bill"]


OBJECTIVE = "[[objectives]]\nname = 'a'\n"
OVERRIDE = "[[evaluation.overrides]]\ngroups = ['^pay']\n"
OVERRIDES = "evaluation.overrides.0"


@pytest.mark.parametrize(
    ("written", "sources"),
    [
        ('"admin_api"', ["admin_api"]),
        ('["offsets_topic", "zookeeper"]', ["offsets_topic", "zookeeper"]),
    ],
)
def test_a_cluster_has_one_source_or_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, sources: list[str]
) -> None:
    monkeypatch.setenv("WARREN_CLUSTERS__EU__SOURCE", written.strip('"'))
    tables = [
        f'[clusters.{name}]\nbootstrap = "a:1"\nzookeeper = "z:2181"\n{source}\n'
        for name, source in (("p", f"source = {written}"), ("eu", ""), ("default", ""))
    ]
    clusters = load_settings(write(tmp_path, "".join(tables))).clusters
    assert clusters["p"].sources == clusters["eu"].sources == sources
    assert clusters["default"].sources == ["offsets_topic"]


@pytest.mark.parametrize(
    ("text", "setting", "advice"),
    [
        ("[api]\nprot = 1", "api.prot", "did you mean api.port?"),
        ("[hom]\n", "hom", "did you mean home?"),
        ('[clusters.p]\nbootstap = "a:1"', "clusters.p.bootstap", "clusters.p.bootstrap"),
        ("[log]\nzzzzzz = 1", "log.zzzzzz", "known here: format, level"),
        ("[api]\nport = 70000", "api.port", "at most 65535"),
        ('[evaluation]\npolicy = "burow"', "evaluation.policy", "'burrow' or 'progress'"),
        (OVERRIDE + "polcy = 'burrow'", OVERRIDES + ".polcy", "did you mean"),
        (OVERRIDE + "policy = 'burow'", OVERRIDES + ".policy", "'burrow' or 'progress'"),
        (OVERRIDE + "intervals = 1", OVERRIDES + ".intervals", "at least 2"),
        (OVERRIDE, OVERRIDES, "nothing is overridden: name one of policy, intervals"),
        (OVERRIDE + "topics = '('\nallowed_lag = 1", OVERRIDES + ".topics", "'('"),
        (
            OVERRIDE + "topics = 't'\nexpire_group = 1",
            OVERRIDES,
            "expire_group is of a whole group",
        ),
        ("[[evaluation.overrides]]\nallowed_lag = 1", OVERRIDES, "for which groups?"),
        (OVERRIDE + "expected_every = 'daily'", OVERRIDES + ".expected_every", "24h, 1d12h"),
        (OVERRIDE + "expected_delay = '0m'", OVERRIDES + ".expected_delay", "24h, 1d12h"),
        (OVERRIDE + "expected_delay = -1", OVERRIDES + ".expected_delay", "more than 0"),
        (OVERRIDE + "ignore = 2", OVERRIDES + ".ignore", "true or false"),
        ("[[groups]]\ngroups = '^pay'", "groups.0", "nothing is said: name owner, runbook"),
        ('[clusters."a b"]\nbootstrap = "a:1"', "clusters", "'a b'"),
        ("[clusters.p]\n", "clusters.p.bootstrap", "is needed"),
        ('[clusters.p]\nbootstrap = "a:1"\nsource = "admin"', "clusters.p.source", "admin_api"),
        ('[clusters.p]\nbootstrap = "a:1"\nsource = []', "clusters.p.source", "each source once"),
        (
            '[clusters.p]\nbootstrap = "a:1"\nsource = ["zookeeper"]',
            "clusters.p",
            "needs the setting zookeeper, host:port",
        ),
        (OBJECTIVE, "objectives.0", "nothing is asked for: name one of max_freshness, max_lag"),
        (OBJECTIVE + "max_lag = 1\nfor = true", "objectives.0.for", "true and false"),
        (OBJECTIVE + "max_lag = 1\nfor_ = 1", "objectives.0.for_", "unknown"),
        (OBJECTIVE + "max_lag = 1\ngroups = '('", "objectives.0.groups", "'('"),
        (2 * (OBJECTIVE + "max_lag = 1\n"), "objectives", "two objectives are named 'a'"),
        ("[[objectives]]\nname = 'retention'\nmax_lag = 1", "objectives.0.name", "always there"),
        (
            '[redis]\nurl_file = "/nowhere"',
            "redis.url_file",
            "/nowhere cannot be read: No such file or directory",
        ),
        (
            "[[notifier.routes]]\nname = 'a'\nchannels = []",
            "notifier.routes.0.channels",
            "must have 1 or more entries",
        ),
        (
            "[[notifier.routes]]\nname = 'a b'\nchannels = ['m']",
            "notifier.routes.0.name",
            "must be of letters, digits, . _ -",
        ),
        (
            "[notifier.channels.'a b']\ntype = 'email'",
            "notifier.channels.a b",
            "must be of letters, digits, . _ -",
        ),
        ("[notifier]\nallow_networks = ['x']", "notifier.allow_networks", "such as 10.0.0.0/8"),
        (
            "[notifier]\nallow_networks = ['10.1.2.3/8']",
            "notifier.allow_networks",
            "did you mean 10.0.0.0/8?",
        ),
        ('[redis]\nurl = "http://x"', "redis.url", "redis://, rediss:// or unix://"),
        (
            '[clusters.p]\nbootstrap = "a:1"\nkafka = { "bootstrap.servers" = "b:2/" }',
            "clusters.p.kafka",
            "bootstrap.servers is the setting bootstrap",
        ),
    ],
)
def test_refusals_name_the_setting_and_the_fix(
    tmp_path: Path, text: str, setting: str, advice: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, text))
    assert refused.value.setting == setting
    assert advice in refused.value.problem


SECONDS = ("collector.interval", "collector.heartbeat", "collector.describe_interval")


@pytest.mark.parametrize("setting", [*SECONDS, "evaluation.expire_group"])
@pytest.mark.parametrize("written", ["inf", "-inf", "nan", "1e300"])
def test_numbers_are_finite(tmp_path: Path, setting: str, written: str) -> None:
    section, name = setting.split(".")
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, f"[{section}]\n{name} = {written}\n"))
    assert refused.value.setting == setting
    assert "finite" in refused.value.problem or "at most" in refused.value.problem


@pytest.mark.parametrize(
    "setting",
    [*SECONDS, "api.port", "log.level", "home.min_insync_replicas", "filters.groups_deny"],
)
def test_a_boolean_is_no_number(tmp_path: Path, setting: str) -> None:
    section, name = setting.split(".")
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, f"[{section}]\n{name} = true\n"))
    assert refused.value.setting == setting
    assert refused.value.problem == "true and false are not accepted here"


@pytest.mark.parametrize(
    ("variable", "value", "advice"),
    [
        ("WARREN_REDIS", "tcp://1.1.1.1:6379", "did you mean WARREN_REDIS__…?"),
        ("WARREN_CLUSTERS__EU__GROUPS_ALLOW", "[^pay", "Expecting value"),
    ],
)
def test_a_variable_that_is_no_json_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, advice: str
) -> None:
    monkeypatch.setenv("WARREN_CLUSTERS__EU__BOOTSTRAP", "b:2")
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert refused.value.setting == variable
    assert advice in refused.value.problem


NOT_SERVERS = (
    "",
    " , ",
    "9092",
    "kafka-1",
    "kafka-1:",
    ":9092",
    "kafka-1:9092/",
    "kafka-1:9092,kafka-2:9o92",
    "kafka-1:0",
    "kafka-1:65536",
    "kafka-1:99999999",
    "kafka-1:٩",
    "kafka-1:9092 kafka-2:9092",
    "user@kafka-1:9092",
    "::1:9092",
    "[::1]",
    "[kafka-1]:9092",
    "http://kafka-1:9092",
    "PLAINTEXT://kafka-1:9092",
)


@pytest.mark.parametrize("table", ["home", "clusters.p"])
@pytest.mark.parametrize("written", NOT_SERVERS)
def test_bootstrap_servers_are_host_and_port(tmp_path: Path, table: str, written: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, f'[{table}]\nbootstrap = "{written}"\n'))
    assert refused.value.setting == f"{table}.bootstrap"
    assert "write host:port" in refused.value.problem or "kafka-1:9092" in refused.value.problem
    assert "\n" not in str(refused.value)


def test_a_listener_is_refused_with_how_to_write_its_protocol() -> None:
    with pytest.raises(ValueError, match=r"a scheme: write host:port, .* security\.protocol"):
        KafkaConnection(bootstrap="SASL_SSL://kafka-1:9092")


@pytest.mark.parametrize(
    "written",
    ["kafka-1:9092", "a_b.c:1,10.0.0.1:65535", "[::1]:9092,[fe80::1%eth0]:9092", " a:1, b:2, "],
)
def test_all_clients_read_bootstrap_servers_alike(written: str) -> None:
    servers = KafkaConnection(bootstrap=written).bootstrap.split(",")
    read = collect_hosts(",".join(servers), randomize=False)
    assert [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port, _ in read] == (
        servers
    )
    assert servers == [server.strip() for server in written.split(",") if server.strip()]


def test_misspelt_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARREN_EVALUATON__POLICY", "burrow")
    with pytest.raises(SettingsError, match="did you mean WARREN_EVALUATION"):
        load_settings()


def test_broken_or_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"warren\.toml"):
        load_settings(write(tmp_path, "[api\n"))
    with pytest.raises(SettingsError, match="No such file"):
        load_settings(tmp_path / "elsewhere.toml")


def test_a_file_that_is_no_text_is_refused_in_plain_words(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_bytes(b"[home]\n# \xff\n")
    with pytest.raises(SettingsError, match=r"warren\.toml: is not UTF-8$"):
        load_settings(file)
    (tmp_path / "password").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"password cannot be read: is not UTF-8$"):
        load_settings(write(tmp_path, f"[redis]\nurl_file = '{tmp_path}/password'"))


def test_each_pattern_of_the_settings_has_words() -> None:
    models: list[type[BaseModel]] = [Settings, *(kind.settings for kind in kinds().values())]
    schemas = json.dumps([model.model_json_schema() for model in models])
    patterns = set(map(json.loads, re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', schemas)))
    assert len(patterns) > 5
    for pattern in patterns:
        error = {"type": "string_pattern_mismatch", "ctx": {"pattern": pattern}}
        assert pattern not in words_of(error)


def test_secrets_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "password").write_text("from the file\n")
    file = write(
        tmp_path,
        f'[home.kafka]\n"sasl.password_file" = "{tmp_path}/password"\n'
        f'[clusters.p]\nbootstrap = "a:1"\n',
    )
    monkeypatch.setenv("WARREN_CLUSTERS__P__KAFKA__SASL_PASSWORD_FILE", f"{tmp_path}/password")
    (tmp_path / "url").write_text("redis://:geheim@h\n")
    monkeypatch.setenv("WARREN_REDIS__URL_FILE", f"{tmp_path}/url")
    settings = load_settings(file)
    assert settings.home.librdkafka()["sasl.password"] == "from the file"
    assert settings.clusters["p"].librdkafka()["sasl.password"] == "from the file"
    assert settings.redis.url.get_secret_value() == "redis://:geheim@h"


def test_secrets_do_not_show(tmp_path: Path) -> None:
    settings = load_settings(
        write(
            tmp_path, '[home.kafka]\n"sasl.password" = "geheim"\n[redis]\nurl = "redis://:geheim@h"'
        )
    )
    for shown in (repr(settings), str(settings.home), settings.model_dump_json()):
        assert "geheim" not in shown


def test_properties_are_written_as_librdkafka_wants_them() -> None:
    connection = KafkaConnection(
        bootstrap="a:1",
        kafka={"enable_ssl_certificate_verification": False, "socket.timeout.ms": 500},  # type: ignore[dict-item]  # as TOML gives them
    )
    assert connection.librdkafka() == {
        "bootstrap.servers": "a:1",
        "enable.ssl.certificate.verification": "false",
        "socket.timeout.ms": "500",
    }


def test_saved_filters_have_a_name_each_and_something_to_look_for(tmp_path: Path) -> None:
    entry = '[[api.filters]]\nname = "{}"\nq = "{}"\n'
    file = write(
        tmp_path, entry.format("payments", "owner:payments") + entry.format("late", "late:>5m")
    )
    filters = [(each.name, each.q) for each in load_settings(file).api.filters]
    assert filters == [("payments", "owner:payments"), ("late", "late:>5m")]
    for text, problem in (
        (entry.format("a", "b") * 2, "two filters have the same name"),
        (entry.format("", "b"), "must not be empty"),
        (entry.format("a", ""), "must not be empty"),
        (entry.format("a", "b" * 301), "at most 300 characters"),
    ):
        with pytest.raises(SettingsError, match=problem):
            load_settings(write(tmp_path, text))


def test_which_clusters_share_an_offsets_topic_is_known() -> None:
    def shares(*each: dict[str, Any]) -> list[bool]:
        clusters = {name: ClusterSettings(**one) for name, one in zip("pq", each, strict=True)}
        return [shares_offsets_topic(name, clusters) for name in clusters]

    two = {"bootstrap": "c:1, b:1"}
    assert shares({"bootstrap": "a:1,b:1"}, two) == [True, True]
    assert shares({"bootstrap": "a:1"}, two) == [False, False]
    assert shares({"bootstrap": "b:1", "source": "admin_api"}, two) == [False, False]
    assert shares({"bootstrap": "b:1", "offsets_topic": "other"}, two) == [False, False]
