"""What one Warren calls its own, and where another name may be given."""

import re
from typing import Any

import pytest
from pydantic import ValidationError
from warren.installation import COLLECTORS_ANYWHERE, Installation
from warren.settings import HomeSettings, Settings

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
