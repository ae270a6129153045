"""librdkafka's words in Java's."""

from pathlib import Path
from typing import Any

import pytest
from warren.errors import SettingsError
from warren.settings import KafkaConnection
from warren_archiver.bronze.source import kafka_options


def _options(**properties: Any) -> dict[str, str]:
    kafka = {name.replace("_", "."): value for name, value in properties.items()}
    connection = KafkaConnection.model_validate({"bootstrap": "a:1,b:2", "kafka": kafka})
    return kafka_options("home", connection)


def test_a_plain_connection_is_just_the_servers() -> None:
    assert _options() == {"bootstrap.servers": "a:1,b:2", "security.protocol": "PLAINTEXT"}


def test_passwords_become_a_login_whatever_characters_they_have() -> None:
    options = _options(
        security_protocol="sasl_ssl",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="ann",
        sasl_password='p"w\\d',
    )
    assert options["security.protocol"] == "SASL_SSL"
    assert options["sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="ann" password="p\\"w\\\\d";'
    )


def test_client_credentials_become_an_oauth_login() -> None:
    options = _options(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanisms="OAUTHBEARER",
        sasl_oauthbearer_method="oidc",
        sasl_oauthbearer_token_endpoint_url="https://login/token",
        sasl_oauthbearer_client_id="me",
        sasl_oauthbearer_client_secret="s",
        sasl_oauthbearer_scope="kafka",
    )
    assert options["sasl.oauthbearer.token.endpoint.url"] == "https://login/token"
    assert options["sasl.login.callback.handler.class"].endswith(".OAuthBearerLoginCallbackHandler")
    assert 'clientId="me" clientSecret="s" scope="kafka";' in options["sasl.jaas.config"]


def test_certificates_are_passed_on_by_content(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("ca", "certificate", "key")}
    for name, file in files.items():
        file.write_text(f"the {name}")
    options = _options(
        security_protocol="ssl",
        ssl_ca_location=str(files["ca"]),
        ssl_certificate_location=str(files["certificate"]),
        ssl_key_location=str(files["key"]),
        ssl_key_password="k",
    )
    assert options["ssl.truststore.type"] == options["ssl.keystore.type"] == "PEM"
    assert options["ssl.truststore.certificates"] == "the ca"
    assert options["ssl.keystore.certificate.chain"] == "the certificate"
    assert options["ssl.keystore.key"] == "the key"
    assert options["ssl.key.password"] == "k"


def test_what_only_says_how_librdkafka_works_is_left_out() -> None:
    assert "socket.timeout.ms" not in _options(socket_timeout_ms=5)


@pytest.mark.parametrize(
    ("properties", "setting"),
    [
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "sasl.username"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "X"}, "sasl.mechanism"),
        ({"ssl_crl_location": "x"}, "ssl.crl.location"),
        ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "ssl.ca.location"),
        (
            {"security_protocol": "SSL", "enable_ssl_certificate_verification": False},
            "enable.ssl.certificate.verification",
        ),
    ],
)
def test_what_java_cannot_do_names_the_setting(properties: dict[str, Any], setting: str) -> None:
    with pytest.raises(SettingsError) as refused:
        _options(**properties)
    assert refused.value.setting == f"home.kafka.{setting}"
