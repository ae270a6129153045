"""What happens before the worker works: settings, topics, connections."""

import os
import subprocess
import sys

import faust
import pytest
from faust.auth import Credentials
from warren.errors import KafkaError, TopicMisconfigured, TopicMissing
from warren.settings import HomeSettings, KafkaConnection
from warren_evaluator.home.credentials import broker_urls, credentials
from warren_evaluator.home.preparation import changelog_name, common_partitions, ensure_changelog

NAMES = (
    "offsets",
    "groups",
    "freshness",
    "lag",
    "lag-status",
    "incidents",
    "trends",
    "dead-letters",
)
TOPICS = {f"w.{name}": 4 for name in NAMES}


def connection(**properties: str) -> KafkaConnection:
    return KafkaConnection(bootstrap="a:1, b:2,", kafka=dict(properties))


def test_bootstrap_servers_become_urls() -> None:
    assert broker_urls(connection()) == ["kafka://a:1", "kafka://b:2"]


SASL = {"sasl_username": "user", "sasl_password": "secret"}


@pytest.mark.parametrize(
    ("properties", "kind", "protocol"),
    [
        ({}, type(None), None),
        ({"security_protocol": "ssl"}, faust.SSLCredentials, "SSL"),
        (
            {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", **SASL},
            faust.SASLCredentials,
            "SASL_PLAINTEXT",
        ),
        (
            {"security_protocol": "sasl_ssl", "sasl_mechanism": "SCRAM-SHA-512", **SASL},
            faust.SASLCredentials,
            "SASL_SSL",
        ),
    ],
)
def test_librdkafkas_properties_become_fausts_credentials(
    properties: dict[str, str], kind: type, protocol: str | None
) -> None:
    found = credentials("home", connection(**properties))
    assert isinstance(found, kind)
    if isinstance(found, Credentials):
        assert found.protocol.value == protocol
        assert "secret" not in repr(found)
    if isinstance(found, faust.SASLCredentials):
        assert (found.username, found.password) == ("user", "secret")
        assert found.mechanism.value == properties["sasl_mechanism"]


def test_oauth_becomes_fausts_token_provider() -> None:
    oauth = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauthbearer_method": "oidc",
        "sasl_oauthbearer_client_id": "warren",
        "sasl_oauthbearer_client_secret": "secret",
        "sasl_oauthbearer_token_endpoint_url": "http://localhost:1/token",
    }
    assert isinstance(credentials("home", connection(**oauth)), faust.OAuthCredentials)


def test_all_topics_must_have_as_many_partitions() -> None:
    assert common_partitions({**TOPICS, "other": 9}, "w.") == 4
    with pytest.raises(TopicMissing, match=r"w\.lag-status does not exist"):
        common_partitions({k: v for k, v in TOPICS.items() if k != "w.lag-status"}, "w.")
    with pytest.raises(TopicMisconfigured, match=r"w\.lag has 3 partitions but w\.offsets has 4"):
        common_partitions({**TOPICS, "w.lag": 3}, "w.")


class NoAdmin:
    """Nothing may be asked of it."""


@pytest.mark.parametrize(
    ("existing", "error", "problem"),
    [
        (3, TopicMisconfigured, "app-windows-changelog has 3 partitions but warren.offsets has 4"),
        (None, TopicMissing, "app-windows-changelog does not exist"),
    ],
)
def test_a_changelog_that_does_not_fit_is_named(
    existing: int | None, error: type[KafkaError], problem: str
) -> None:
    home = HomeSettings(create_topics=False)
    with pytest.raises(error, match=problem):
        ensure_changelog(NoAdmin(), home, "app", 4, existing)  # type: ignore[arg-type]
    assert not ensure_changelog(NoAdmin(), home, "app", 4, 4)  # type: ignore[arg-type]
    assert changelog_name("app") == "app-windows-changelog"


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("WARREN_EVALUATOR__METRICS_PORT", "-1", "warren-evaluator: evaluator.metrics_port: "),
        ("WARREN_EVALUATOR__BATCHES", "5", "warren-evaluator: evaluator.batches: unknown"),
        ("WARREN_EVALUATION__POLICY", "other", "warren-evaluator: evaluation.policy: "),
    ],
)
def test_a_wrong_setting_ends_it_with_one_line(variable: str, value: str, line: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "warren_evaluator", "--config", os.devnull],
        env={**os.environ, variable: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
