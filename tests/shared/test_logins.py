"""Each login mechanism in the words of each client."""

import asyncio
import ssl
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.abc import AbstractTokenProvider
from confluent_kafka import Consumer
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth
from warren.errors import SettingsError
from warren.kafka.connection import new_client
from warren.logins import MECHANISMS
from warren.settings import KafkaConnection
from warren_archiver.bronze.source import kafka_options
from warren_evaluator.home.credentials import credentials
from warren_wire.brokers import aiokafka_options, log_in_anew


def connection(**kafka: str) -> KafkaConnection:
    properties = {name.replace("_", "."): value for name, value in kafka.items()}
    return KafkaConnection(bootstrap="a:1,b:2", kafka=properties)  # type: ignore[arg-type]  # as TOML gives them


def by(name: str, password: str = "http://first") -> KafkaConnection:
    """Everything that the mechanism needs."""
    needed = dict.fromkeys(MECHANISMS[name].needs, password)
    return connection(security_protocol="sasl_ssl", sasl_mechanism=name, **needed)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_speaks_to_each_client(name: str) -> None:
    for_python = aiokafka_options("home", by(name))
    assert (for_python["sasl_mechanism"], for_python["security_protocol"]) == (name, "SASL_SSL")
    for_faust = credentials_to_aiokafka_auth(credentials("home", by(name)))
    shared = for_faust.keys() & for_python.keys() - {"ssl_context", "sasl_oauth_token_provider"}
    assert {key: for_faust[key] for key in shared} == {key: for_python[key] for key in shared}
    assert for_faust.keys() == for_python.keys() - {"bootstrap_servers"}
    for_java = kafka_options("home", by(name))
    assert (for_java["sasl.mechanism"], for_java["security.protocol"]) == (name, "SASL_SSL")
    assert for_java["sasl.jaas.config"].startswith("org.apache.kafka.common.security.")
    new_client(Consumer, "home", "home", by(name), group_id="g").close()
    tokens = for_python.get("sasl_oauth_token_provider")
    assert tokens is None or isinstance(tokens, AbstractTokenProvider)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_client_of_fausts_logs_in_anew(name: str) -> None:
    async def work() -> None:
        consumer = AIOKafkaConsumer(**aiokafka_options("home", by(name)))
        renewed = aiokafka_options("home", by(name, "http://second"))
        log_in_anew(consumer, renewed)
        kept = vars(consumer._client)
        taken = renewed.keys() - {"bootstrap_servers", "security_protocol", "sasl_mechanism"}
        assert {key: kept[f"_{key}"] for key in taken} == {key: renewed[key] for key in taken}
        await consumer.stop()

    asyncio.run(work())


def options(**kafka: str) -> dict[str, Any]:
    return aiokafka_options("home", connection(**kafka))


def test_aiokafka_plaintext() -> None:
    assert options() == {"bootstrap_servers": "a:1,b:2", "security_protocol": "PLAINTEXT"}


def test_aiokafka_tls_verification_can_be_turned_off() -> None:
    assert options(security_protocol="SSL")["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    trusting = options(security_protocol="SSL", enable_ssl_certificate_verification="false")
    assert trusting["ssl_context"].verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("kafka", "setting"),
    [
        ({"security_protocol": "SASL_SSL"}, "home.kafka.sasl.mechanism"),
        (
            {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"},
            "home.kafka.sasl.username",
        ),
        ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "home.kafka"),
        ({"ssl_keystore_location": "/x"}, "home.kafka.ssl.keystore.location"),
    ],
)
def test_aiokafka_refusals_name_the_setting(kafka: dict[str, str], setting: str) -> None:
    with pytest.raises(SettingsError) as refused:
        options(**kafka)
    assert refused.value.setting == setting
