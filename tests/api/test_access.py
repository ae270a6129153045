"""Who may ask what, over HTTP."""

import base64
from typing import Any

import pytest
from api.served_api import Api
from structlog.testing import capture_logs
from warren.api_tokens import hash_of, new_token
from warren.errors import SettingsError
from warren.metrics import api as metrics
from warren.settings import ApiSettings, ApiToken
from warren_api.http.access import Access

READ, ADMIN = new_token(), new_token()
TOKENS = [
    ApiToken(name="grafana", role="read", hash=hash_of(READ)),
    ApiToken(name="ops", role="admin", hash=hash_of(ADMIN)),
]


def closed(**fields: Any) -> Api:
    return Api(api=ApiSettings(tokens=TOKENS, **fields))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic(token: str, user: str = "anyone") -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()}


@pytest.fixture(scope="module")
def shut() -> Api:
    """One that wants a token and is changed by no test."""
    api = closed()
    api.put("secret-group")
    return api


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong"),
        basic("wrong"),
        bearer(""),
        bearer(hash_of(READ)),
        basic("", user=READ),
        {"Authorization": "Basic !"},
        {"Authorization": READ},
        {"Authorization": f"Digest {READ}"},
    ],
)
def test_without_a_token_of_the_settings_nothing_is_told(
    shut: Api, headers: dict[str, str]
) -> None:
    answer = shut.get("/api/v1/groups", headers=headers)
    assert answer.status_code == 401
    assert 'Basic realm="warren"' in answer.headers["www-authenticate"]
    assert 'Bearer realm="warren"' in answer.headers["www-authenticate"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "secret-group" not in answer.text


def refused(logs: list[Any]) -> list[dict[str, Any]]:
    return [dict(line) for line in logs if line["event"] == "token refused"]


def test_who_guesses_tokens_is_told_and_counted() -> None:
    api, guesses = closed(), [new_token() for _ in range(5)]
    before = metrics.API_TOKENS_REFUSED._value.get()
    with capture_logs() as logs:
        assert api.get("/api/v1/groups?regex=x", headers=bearer(guesses[2])).status_code == 401
        api.request("DELETE", "/v3/kafka/demo/consumer/g", headers=basic(guesses[0]))
        api.get("/api/v1/groups")  # without a token
        api.get("/api/v1/groups", headers=bearer(READ))
        api.get(f"/api/v1/groups/{guesses[1]}", headers=bearer(guesses[1]))
    first, second, third = refused(logs)
    address = {"client": "127.0.0.1", "log_level": "warning", "event": "token refused"}
    assert first == {**address, "method": "GET", "path": "/api/v1/groups"}
    path = "/v3/kafka/demo/consumer/g"
    assert second == {**address, "method": "DELETE", "path": path}
    assert third["path"] == "/api/v1/groups/***"
    assert not any(guess in str(logs) for guess in guesses)
    assert metrics.API_TOKENS_REFUSED._value.get() - before == 3
    assert "warren_api_tokens_refused_total" in api.get("/metrics", headers=bearer(READ)).text


def test_a_refusal_has_the_shape_of_its_interface(shut: Api) -> None:
    ours = shut.get("/api/v1/groups")
    assert ours.headers["content-type"] == "application/problem+json"
    assert ours.json()["type"] == "/api/v1/problems/token-needed"
    burrow = shut.get("/v3/kafka").json()
    assert (burrow["error"], burrow["request"]["url"]) == (True, "/v3/kafka")
    assert shut.get("/metrics").text.startswith("Token needed. ")


@pytest.mark.parametrize("headers", [bearer(READ), basic(READ), bearer(ADMIN), basic(ADMIN, "")])
def test_every_token_may_read_as_bearer_and_as_basic(shut: Api, headers: dict[str, str]) -> None:
    assert shut.get("/api/v1/groups", headers=headers).status_code == 200


def test_who_changes_something_is_written_down(shut: Api) -> None:
    path = "/v3/kafka/demo/consumer/g"
    with capture_logs() as logs:
        shut.request("DELETE", path, headers=bearer(ADMIN))
    (line,) = [line for line in logs if line["event"] == "changing something"]
    assert (line["token"], line["method"], line["path"]) == ("ops", "DELETE", path)


@pytest.mark.parametrize(
    ("without_token", "reading", "changing"), [("read", 200, 401), ("admin", 200, 405)]
)
def test_what_may_be_done_without_a_token_is_a_setting(
    without_token: str, reading: int, changing: int
) -> None:
    settings = ApiSettings.model_validate({"tokens": TOKENS, "without_token": without_token})
    api = Api(api=settings, is_loopback=False)
    assert api.get("/api/v1/groups").status_code == reading
    assert api.request("DELETE", "/api/v1/groups").status_code == changing
    assert api.get("/api/v1/groups", headers=bearer("wrong")).status_code == 401


@pytest.mark.parametrize(
    ("fields", "is_loopback"),
    [({"host": "0.0.0.0"}, False), ({"without_token": "nothing"}, True)],
)
def test_no_door_is_left_open_or_shut_by_oversight(
    fields: dict[str, Any], is_loopback: bool
) -> None:
    with pytest.raises(SettingsError, match="`warren token") as caught:
        Access(ApiSettings(**fields), is_loopback=is_loopback)
    assert caught.value.setting == "api.tokens"


@pytest.mark.parametrize(
    ("host", "is_loopback", "fields", "expected"),
    [
        ("evil.example", True, {}, 403),
        ("evil.example:8000", True, {}, 403),
        ("localhost.evil.example", True, {}, 403),
        ("192.168.1.9", True, {}, 403),
        ("[", True, {}, 403),
        ("localhost:8000", True, {}, 200),
        ("LOCALHOST", True, {}, 200),
        ("127.0.0.1:8000", True, {}, 200),
        ("[::1]:8000", True, {}, 200),
        ("warren.example", True, {"trusted_hosts": ["Warren.example"]}, 200),
        ("evil.example", True, {"trusted_hosts": ["*"]}, 200),
        ("warren-api:8000", False, {"without_token": "read"}, 200),
        ("10.0.0.7:8000", False, {"without_token": "read", "trusted_hosts": ["w"]}, 200),
        ("warren-api", False, {"without_token": "read", "trusted_hosts": ["w"]}, 403),
    ],
)
def test_names_that_the_api_may_be_asked_under(
    host: str, is_loopback: bool, fields: dict[str, Any], expected: int
) -> None:
    api = Api(api=ApiSettings(**fields), is_loopback=is_loopback)
    assert api.get("/api/v1/groups", headers={"Host": host}).status_code == expected
    assert api.get("/burrow/admin", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("site", ["same-origin", "none", "cross-site"])
@pytest.mark.parametrize(
    ("host", "fields", "expected"),
    [
        ("evil.example:8000", {}, 403),
        ("evil.example", {"trusted_hosts": ["warren.example"]}, 403),
        ("warren.example", {"trusted_hosts": ["warren.example"]}, 200),
        ("localhost", {}, 200),
        ("10.0.0.7:8000", {}, 200),
    ],
)
def test_a_browser_may_read_under_known_names_only(
    site: str, host: str, fields: dict[str, Any], expected: int
) -> None:
    """It sends no Origin when it reads, but what a script can neither add nor remove."""
    api = Api(api=ApiSettings(without_token="read", **fields), is_loopback=False)
    for headers in ({"Sec-Fetch-Site": site}, {"Sec-Fetch-Mode": "cors"}, {"Sec-CH-UA": '"x"'}):
        for path in ("/api/v1/groups", "/", "/metrics", "/v3/kafka"):
            answer = api.get(path, headers={"Host": host, **headers})
            assert answer.status_code == expected, path
        assert api.get("/burrow/admin", headers={"Host": host, **headers}).status_code == 200


@pytest.mark.parametrize(
    ("fields", "is_loopback", "expected"),
    [
        ({"without_token": "read"}, False, True),
        ({"without_token": "read", "trusted_hosts": ["warren.example"]}, False, False),
        ({"without_token": "read", "trusted_hosts": ["*"]}, False, False),
        ({}, True, False),
        ({"tokens": TOKENS}, False, False),
    ],
)
def test_whether_other_sites_may_read_is_known_at_start(
    fields: dict[str, Any], is_loopback: bool, expected: bool
) -> None:
    access = Access(ApiSettings(**fields), is_loopback=is_loopback)
    assert access.reads_under_any_name == expected


def test_sites_that_may_ask() -> None:
    api = closed(cors_origins=["https://ok.example"])
    ask = {
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    allowed = api.request(
        "OPTIONS", "/api/v1/groups", headers={"Origin": "https://ok.example", **ask}
    )
    assert allowed.status_code == 200, "a browser asks before it sends the token"
    assert allowed.headers["access-control-allow-origin"] == "https://ok.example"
    refused = api.request(
        "OPTIONS", "/api/v1/groups", headers={"Origin": "https://evil.example", **ask}
    )
    assert "access-control-allow-origin" not in refused.headers
    answer = api.get("/api/v1/groups", headers={"Origin": "https://ok.example", **bearer(READ)})
    assert answer.headers["access-control-allow-origin"] == "https://ok.example"
    assert "access-control-allow-credentials" not in answer.headers
    nobody = closed().get("/api/v1/groups", headers={"Origin": "https://ok.example"})
    assert "access-control-allow-origin" not in nobody.headers


@pytest.mark.parametrize(
    ("method", "path", "options", "expected"),
    [
        ("GET", f"/api/v1/groups?regex={'x' * 9000}", {}, 414),
        ("GET", f"/{'x' * 9000}", {}, 414),
        ("GET", f"/v3/kafka?{'x' * 9000}", {}, 414),
        ("POST", "/v3/kafka", {"content": b"x" * 65_537}, 413),
        ("POST", "/v3/kafka", {"content": b"x" * 65_536}, 405),
        ("POST", "/v3/kafka", {"headers": {"Transfer-Encoding": "chunked"}}, 413),
        ("POST", "/v3/kafka", {"headers": {"Content-Length": "-1"}}, 413),
    ],
)
def test_what_is_too_large_is_refused(
    shut: Api, method: str, path: str, options: dict[str, Any], expected: int
) -> None:
    headers = {**bearer(ADMIN), **options.get("headers", {})}
    assert shut.request(method, path, **{**options, "headers": headers}).status_code == expected


def test_headers_that_keep_browsers_safe() -> None:
    headers = Api().get("/").headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "strict-transport-security" not in headers
    tls = Api(api=ApiSettings(tls_certificate="c.pem", tls_key="k.pem")).get("/").headers
    assert tls["strict-transport-security"].startswith("max-age=")
