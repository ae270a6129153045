"""`/v3/config…` and `/v3/kafka/{cluster}`: Warren's settings in the shapes of Burrow 1.9.5."""

import pytest
from api.burrow_goldens import golden
from api.served_api import Api
from warren.settings import Settings

SETTINGS = {
    "api": {
        "host": "0.0.0.0",
        "port": 8000,
        "cors_origins": ["https://a.example"],
        "tls_certificate": "/cert.pem",
        "tls_key": "/key.pem",
    },
    "collector": {"interval": 5},
    "evaluation": {"intervals": 15, "min_distance": 1, "expire_group": 3600},
    "clusters": {
        "lab": {"bootstrap": "a:9092, b:9092", "groups_allow": ["^x"], "offsets_topic": "_o"},
        "old": {
            "bootstrap": "d:9092",
            "source": ["offsets_topic", "zookeeper"],
            "zookeeper": "z1:2181,z2:2181/kafka",
        },
        "safe": {
            "bootstrap": "c:9093",
            "groups_allow": ["^x", "y$"],
            "kafka": {
                "security.protocol": "SASL_SSL",
                "sasl.username": "me",
                "sasl.password": "hidden-password",
                "ssl.ca.location": "/ca.pem",
                "enable.ssl.certificate.verification": False,
                "client.id": "mine",
            },
        },
    },
    "notifier": {
        "channels": {
            "hook": {
                "type": "webhook",
                "url": "https://user:hidden-word@example.org:8443/hidden-path?k=hidden-query",
                "secret": "whsec_" + "A" * 32,
                "timeout": 5,
            },
            "mail": {
                "type": "email",
                "host": "smtp.example.org",
                "port": 587,
                "username": "me",
                "password": "hidden-password",
                "sender": "a@example.org",
                "to": ["d@example.org", "e@example.org"],
            },
        },
        "routes": [
            {
                "name": "all",
                "channels": ["hook"],
                "groups_allow": ["^x"],
                "repeat_interval": 60,
                "minimum_severity": "ERR",
            }
        ],
    },
}


@pytest.fixture
def api() -> Api:
    return Api(settings=Settings.model_validate(SETTINGS))


def at(path: str, rest: str) -> str:
    return golden(rest.replace("REQUEST", f'"request":{{"url":"{path}","host":"host"}}'))


LAB = (
    '{"class-name":"kafka","servers":["a:9092","b:9092"],"client-profile":{"name":"lab",'
    '"client-id":"warren","kafka-version":"","tls":null,"sasl":null},"topic-refresh":30,'
    '"offset-refresh":5}'
)
BODIES = {
    "/v3/config/cluster/lab": '{"error":false,"message":"cluster module detail returned",'
    f'"module":{LAB},REQUEST}}',
    "/v3/config": '{"error":false,"message":"main config returned",REQUEST,"general":{"pidfile":"",'
    '"stdout-logfile":"","access-control-allow-origin":"https://a.example"},"logging":{"filename":"","max-size":0,'
    '"max-backups":0,"max-age":0,"use-local-time":false,"use-compression":false,"level":"info"},'
    '"zookeeper":{"servers":null,"timeout":0,"root-path":""},"httpserver":{"default":{"address":'
    '"0.0.0.0:8000","tls":"default","timeout":0}}}',
    "/v3/config/storage": '{"error":false,"message":"module list returned",REQUEST,'
    '"coordinator":"storage","modules":["default"]}',
    "/v3/config/storage/default": '{"error":false,"message":"storage module detail returned",'
    '"module":{"class-name":"inmemory","intervals":15,"min-distance":1,"group-allowlist":"",'
    '"expire-group":3600},REQUEST}',
    "/v3/config/evaluator": '{"error":false,"message":"module list returned",REQUEST,'
    '"coordinator":"evaluator","modules":["default"]}',
    "/v3/config/evaluator/default": '{"error":false,"message":"evaluator module detail returned",'
    '"module":{"class-name":"caching","expire-cache":0},REQUEST}',
    "/v3/config/cluster": '{"error":false,"message":"module list returned",REQUEST,'
    '"coordinator":"cluster","modules":["lab","old","safe"]}',
    "/v3/config/consumer": '{"error":false,"message":"module list returned",REQUEST,'
    '"coordinator":"consumer","modules":["lab","old","old_zk","safe"]}',
    "/v3/config/consumer/lab": '{"error":false,"message":"consumer module detail returned",'
    '"module":{"class-name":"kafka","cluster":"lab","servers":["a:9092","b:9092"],'
    '"group-allowlist":"^x","zookeeper-path":"","zookeeper-timeout":0,"client-profile":{'
    '"name":"lab","client-id":"warren","kafka-version":"","tls":null,"sasl":null},'
    '"offsets-topic":"_o","start-latest":false},REQUEST}',
    "/v3/config/consumer/old_zk": '{"error":false,"message":"consumer module detail returned",'
    '"module":{"class-name":"kafka_zk","cluster":"old","servers":["z1:2181","z2:2181"],'
    '"group-allowlist":"","zookeeper-path":"/kafka","zookeeper-timeout":0,"client-profile":{'
    '"name":"old","client-id":"warren","kafka-version":"","tls":null,"sasl":null},'
    '"offsets-topic":"","start-latest":false},REQUEST}',
    "/v3/config/consumer/safe": '{"error":false,"message":"consumer module detail returned",'
    '"module":{"class-name":"kafka","cluster":"safe","servers":["c:9093"],'
    '"group-allowlist":"(^x)|(y$)","zookeeper-path":"","zookeeper-timeout":0,"client-profile":{'
    '"name":"safe","client-id":"mine","kafka-version":"","tls":{"name":"safe","noverify":true,'
    '"certfile":"","keyfile":"","cafile":"/ca.pem"},"sasl":{"name":"safe","handshake-first":true,'
    '"username":"me"}},"offsets-topic":"__consumer_offsets","start-latest":false},REQUEST}',
    "/v3/config/notifier": '{"error":false,"message":"module list returned",REQUEST,'
    '"coordinator":"notifier","modules":["hook","mail"]}',
    "/v3/config/notifier/hook": '{"error":false,"message":"notifier module detail returned",'
    '"module":{"class-name":"http","group-allowlist":"^x","interval":60,"threshold":3,"timeout":5,'
    '"keepalive":0,"url-open":"https://example.org:8443/","url-close":"https://example.org:8443/",'
    '"method-open":"POST","method-close":"POST","template-open":"","template-close":"","extra":{},'
    '"send-close":true,"extra-ca":"","noverify":""},REQUEST}',
    "/v3/config/notifier/mail": '{"error":false,"message":"notifier module detail returned",'
    '"module":{"class-name":"email","group-allowlist":"","interval":0,"threshold":0,'
    '"template-open":"","template-close":"","extra":{},"send-close":false,'
    '"server":"smtp.example.org","port":587,"auth-type":"plain","username":"me",'
    '"from":"a@example.org","to":"d@example.org,e@example.org","extra-ca":"","noverify":""},'
    "REQUEST}",
}


@pytest.mark.parametrize("path", BODIES)
def test_what_is_shown(api: Api, path: str) -> None:
    answer = api.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.text == at(path, BODIES[path])


@pytest.mark.parametrize(
    "path", [*BODIES, "/v3/kafka/lab", "/v3/kafka/safe", "/v3/config/cluster/safe"]
)
def test_secrets_are_not_shown(api: Api, path: str) -> None:
    assert "hidden" not in api.get(path).text
    assert "whsec" not in api.get(path).text


def test_of_a_cluster_that_only_events_name_little_is_known(api: Api) -> None:
    api.put("g", cluster="elsewhere")
    module = api.get("/v3/kafka/elsewhere").json()["module"]
    assert module["servers"] == []
    assert module.keys() == api.get("/v3/kafka/lab").json()["module"].keys()


@pytest.mark.parametrize("kind", ["storage", "evaluator", "cluster", "consumer", "notifier"])
def test_modules_that_there_are_not(api: Api, kind: str) -> None:
    path = f"/v3/config/{kind}/nope"
    answer = api.get(path)
    assert answer.status_code == 404
    message = f'{{"error":true,"message":"{kind} module not found",REQUEST}}'
    assert answer.text == at(path, message)


def test_a_cluster_that_there_is_not(api: Api) -> None:
    answer = api.get("/v3/kafka/nope")
    assert answer.status_code == 404
    assert answer.text == at(
        "/v3/kafka/nope", '{"error":true,"message":"cluster module not found",REQUEST}'
    )
