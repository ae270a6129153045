"""Silences in memory: what holds of whom, however many there are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import re2
from hypothesis import given, strategies as st
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT
from pydantic import ValidationError
from warren import log
from warren.contracts import Silence
from warren.errors import ContractViolation, SettingsError
from warren.installation import COLLECTORS_ANYWHERE, Installation
from warren.patterns import exactly, literal_prefix, searcher
from warren.service_links import service_links
from warren.settings import HomeSettings, LogSettings, Settings
from warren.settings_file import load_settings
from warren.silences import Silences

names = st.text("ab.-_é", max_size=6)
PIECES = ("^", "a", "b", r"\.", ".", "a*", "b+", "a?", "b{2}", "(a)", "$", "-", "é")
patterns = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(patterns, names)
def test_what_a_pattern_begins_with_changes_nothing(pattern: str, name: str) -> None:
    try:
        plain = re2.search(pattern, name) is not None
    except re2.error:
        return
    assert searcher(pattern)(name) == plain


@given(names)
def test_a_name_is_all_that_its_own_pattern_begins_with(name: str) -> None:
    assert literal_prefix(exactly(name)) == name


def test_an_owner_s_silence_is_about_their_groups_and_those_that_come_later() -> None:
    owners = {"billing": "payments"}
    silences = put(
        Silences(lambda _, group: owners.get(group)), silence("s", v=2, owner="payments")
    )
    owners["ledger"] = "payments"  # it comes later
    names = ("billing", "ledger", "other")
    found = [bool(silences.matching("prod", name)) for name in names]
    assert found == [True, True, False]
    with pytest.raises(ContractViolation):
        Silence.from_bytes(json.dumps({"v": 3, "id": "s"}).encode())


def test_the_one_that_ends_last_counts_and_one_that_is_ended_no_longer() -> None:
    silences = put(Silences(), silence("short"), silence("long", ends_at=OPENED_AT + 99 * MINUTE))

    def of(group: str, minutes: int = 0) -> str | None:
        found = silences.in_force(OPENED_AT + minutes * MINUTE).of("prod", group)
        return None if found is None else found.id

    assert of("billing") == "long"
    put(silences, silence("long", ends_at=OPENED_AT))
    assert of("billing") == "short"
    assert of("billing", 60) is None
    put(silences, silence("short", group="^other"))
    assert of("billing") is None
    assert of("other") == "short"
    put(silences, silence("later", begins_at=OPENED_AT + MINUTE))
    assert (of("billing"), of("billing", 1)) == (None, "later")
    silences.apply(b"later", None)
    assert of("billing", 1) is None
    silences.keep_only({"long"}, set())
    assert of("other") is None


def test_a_group_is_looked_for_among_thousands_once() -> None:
    """A storm of groups is asked for each second, in the loop that tells of them."""
    asked: list[str] = []
    silences = put(Silences(), *(silence(f"s{n}", group=f"team{n}-") for n in range(50)))
    for id_, compiled in silences._silences.items():

        def matches(*_group: str, id_: str = id_) -> bool:
            asked.append(id_)
            return False

        silences._silences[id_] = compiled._replace(matches=matches)
    for _ in range(3):
        assert silences.in_force(OPENED_AT).of("prod", "billing") is None
    assert len(asked) == 50


def test_a_record_may_no_more_than_a_request() -> None:
    with pytest.raises(ContractViolation, match="too large"):
        put(Silences(), silence("large", group="((a|.){1,50}){18}z"))
    of_all = silence("quiet").to_bytes().replace(b'".*"', b'""')
    with pytest.raises(ContractViolation, match="is needed"):
        Silences().apply(b"quiet", of_all)


def test_a_group_is_looked_for_without_keeping_others_from_asking() -> None:
    """Reading a record of the topic matches nothing, however many groups were asked for."""
    silences = put(Silences(), silence("first"))
    for number in range(900):
        silences.matching("prod", f"{'a' * 240}{number}")
    matched: list[str] = []
    put(silences, silence("second", group="."))
    compiled = silences._silences["second"]

    def matches(_cluster: str, group: str) -> bool:
        matched.append(group)
        return True

    silences._silences["second"] = compiled._replace(matches=matches)
    assert [each.id for each in silences.matching("prod", f"{'a' * 240}7")] == ["first", "second"]
    assert matched == [f"{'a' * 240}7"]


# What Kubernetes puts into every pod's environment beside a service whose name begins so.

# As a pod has them beside the services `warren-api` (port 8000, named http) and `warren`.
LINKS = {
    "WARREN_API_SERVICE_HOST": "10.96.0.12",
    "WARREN_API_SERVICE_PORT": "8000",
    "WARREN_API_SERVICE_PORT_HTTP": "8000",
    "WARREN_API_PORT": "tcp://10.96.0.12:8000",
    "WARREN_API_PORT_8000_TCP": "tcp://10.96.0.12:8000",
    "WARREN_API_PORT_8000_TCP_PROTO": "tcp",
    "WARREN_API_PORT_8000_TCP_PORT": "8000",
    "WARREN_API_PORT_8000_TCP_ADDR": "10.96.0.12",
    "WARREN_SERVICE_HOST": "fd00::12",
    "WARREN_SERVICE_PORT": "8000",
    "WARREN_PORT": "tcp://[fd00::12]:8000",
    "WARREN_PORT_8125_UDP": "udp://[fd00::12]:8125",
}


@pytest.fixture(autouse=True)
def _in_a_pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in LINKS.items():
        monkeypatch.setenv(name, value)


def test_they_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARREN_API__PORT", "8456")
    assert load_settings().api.port == 8456


def test_a_service_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(LogSettings(format="json"), service="api")
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["level"], told["service"]) == ("info", "api")
    assert "Kubernetes" in told["event"]
    assert told["variables"] == sorted(LINKS)


def test_the_command_line_keeps_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(LogSettings(format="json"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("WARREN_API_PORT", "8123", "WARREN_API__PORT"),
        ("WARREN_API_PROT", "8123", "WARREN_API__PORT"),
        ("WARREN_COLLECTOR_METRICS_PORT", "9100", "WARREN_COLLECTOR__METRICS_PORT"),
        ("WARREN_HOME_BOOTSTRAP", "tcp://kafka:9092", "WARREN_HOME__BOOTSTRAP"),
        ("WARREN_EVALUATON__POLICY", "burrow", "WARREN_EVALUATION"),
    ],
)
def test_misspelt_settings_are_refused_as_before(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, meant: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=rf"did you mean {meant}\?"):
        load_settings()


def test_a_setting_is_never_taken_for_a_link() -> None:
    assert service_links({"WARREN_API__PORT": "tcp://10.96.0.12:8000"}) == []


# What one Warren calls its own, and where another name may be given.

HOME_ID = "MkU3OEVBNTcwNTJENDM2Qg"


def test_the_default_names_are_those_of_ever() -> None:
    home = HomeSettings()
    assert home.topic_prefix == "warren."
    assert home.installation.group("evaluator") == "warren-evaluator"
    assert home.installation.cache_prefix == "warren:"


def test_all_names_begin_with_the_instance() -> None:
    installation = HomeSettings(instance="eu-1").installation
    assert HomeSettings(instance="eu-1").topic_prefix == "eu-1."
    assert installation.group("notifier") == "eu-1-notifier"
    assert installation.collectors(HOME_ID) == f"eu-1-collector-{HOME_ID}"
    assert installation.client("api", "host7") == "eu-1-api-host7"
    assert installation.cache_prefix == "eu-1:"


def test_names_that_are_set_win() -> None:
    assert HomeSettings(instance="a", topic_prefix="b.").topic_prefix == "b."
    assert Installation("a").group("notifier", "c") == "c"
    assert Installation("a").collectors(HOME_ID, "warren-collector") == "warren-collector"


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ü", "x" * 65])
def test_names_that_kafka_would_refuse_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="instance"):
        HomeSettings(instance=name)


@pytest.mark.parametrize(
    ("group", "is_own"),
    [
        ("eu.1-evaluator", True),
        (f"eu.1-collector-{HOME_ID}", True),
        ("eu.1-archiver-8af2-driver-0", True),
        ("euX1-evaluator", False),
        ("eu.1-evaluators", False),
        ("the-eu.1-evaluator", False),
    ],
)
def test_own_groups_are_known_by_their_names(group: str, is_own: bool) -> None:
    assert bool(re.search(Installation("eu.1").groups, group)) == is_own


def test_collectors_of_others_are_known_by_the_id_of_their_home() -> None:
    assert re.search(COLLECTORS_ANYWHERE, f"other-collector-{HOME_ID}")
    assert not re.search(COLLECTORS_ANYWHERE, "payments-collector")


def test_brokers_know_connections_by_instance_service_and_host() -> None:
    tables: dict[str, Any] = {
        "home": {"instance": "eu"},
        "clusters": {
            "p": {"bootstrap": "a:1", "kafka": {"client.id": "c"}},
            "q": {"bootstrap": "b:1"},
        },
    }
    settings = Settings.model_validate(tables).of_service("freshness", "host7")
    assert settings.home.client_id == settings.clusters["q"].client_id == "eu-freshness-host7"
    assert settings.clusters["p"].client_id == "c"
    assert settings.home.topic_prefix == "eu."
