"""Logins that are not to succeed, and what people and providers send that is not to act."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from api.login_lab import PAGE, Lab, begun, log_in, session_of
from joserfc import jwt
from structlog.testing import capture_logs
from support.identity_provider import IdentityProvider, new_key
from warren_api.login.service import next_path

Claims = dict[str, Any]


@pytest.fixture(scope="module")
def served() -> Iterator[Lab]:
    lab = Lab()
    with lab.serving():
        yield lab


@pytest.fixture
def lab(served: Lab) -> Lab:
    """One for all tests that change nothing but what the provider says."""
    vars(served.provider).update(vars(Lab().provider) | {"port": served.provider.port})
    served.provider.public_url = served.url
    served.api.model.silences.apply_acknowledgement(b"i-1", None)
    return served


@pytest.fixture
def client(lab: Lab) -> Iterator[httpx.Client]:
    with lab.client() as client:
        yield client


def refused(client: httpx.Client, answer: httpx.Response, status_code: int = 400) -> None:
    assert answer.status_code == status_code
    assert "You are not logged in" in answer.text
    assert session_of(client) is None
    assert client.get("/").status_code == 303


def without(name: str) -> Callable[[Claims], Claims]:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


def other(**changed: Any) -> Callable[[Claims], Claims]:
    return lambda claims: {**claims, **changed}


LIES: dict[str, Callable[[Claims], Claims]] = {
    "another issuer": other(iss="https://evil.example"),
    "no issuer": without("iss"),
    "for another client": other(aud="another"),
    "for nobody": without("aud"),
    "for several, given to another": other(aud=["warren", "another"], azp="another"),
    "for several, given to nobody": other(aud=["warren", "another"]),
    "over": other(exp=1),
    "for ever": without("exp"),
    "not yet": other(nbf=2**40),
    "of another login": other(nonce="another"),
    "of no login": without("nonce"),
    "of nobody": without("sub"),
    "with another access token": other(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_id_token_has_to_be_for_this_login(lab: Lab, client: httpx.Client, lie: str) -> None:
    lab.provider.lies = LIES[lie]
    with capture_logs() as logs:
        answer = client.get(begun(client))
    refused(client, answer)
    assert "cannot be believed" in answer.text
    (line,) = [line for line in logs if line["event"] == "login failed"]
    assert line["problem"]


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _parts(header: Claims, claims: Claims) -> str:
    return f"{_b64(json.dumps(header).encode())}.{_b64(json.dumps(claims).encode())}"


def unsigned(_: IdentityProvider, claims: Claims, alg: str = "none") -> str:
    return f"{_parts({'alg': alg, 'kid': 'first'}, claims)}."


def by_public_key(provider: IdentityProvider, claims: Claims) -> str:
    """What is known to everybody, taken for a secret."""
    text = _parts({"alg": "HS256", "kid": "first"}, claims)
    pem = provider.keys[0].as_pem(private=False)
    return f"{text}.{_b64(hmac.new(pem, text.encode(), hashlib.sha256).digest())}"


def by_another_key(_: IdentityProvider, claims: Claims) -> str:
    return jwt.encode({"alg": "RS256", "kid": "first"}, claims, new_key("of somebody else"))


def changed(provider: IdentityProvider, claims: Claims) -> str:
    head, _, signature = provider.token(claims).split(".")
    body = _b64(json.dumps({**claims, "groups": ["oncall"], "sub": "u-2"}).encode())
    return f"{head}.{body}.{signature}"


SIGNATURES = {
    "none": unsigned,
    "None": lambda provider, claims: unsigned(provider, claims, "None"),
    "HS256 with the public key": by_public_key,
    "another key": by_another_key,
    "changed": changed,
    "rubbish": lambda *_: "not.a.token",
    "huge": lambda provider, claims: provider.token({**claims, "x": "y" * 200_000}),
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_an_id_token_has_to_be_signed_by_the_provider(
    lab: Lab, client: httpx.Client, signature: str
) -> None:
    lab.provider.sign = lambda claims: SIGNATURES[signature](lab.provider, claims)
    refused(client, client.get(begun(client)))


def test_a_login_is_finished_in_the_browser_that_began_it(lab: Lab, client: httpx.Client) -> None:
    """Else whoever sends a link could log somebody in as themselves."""
    with lab.client() as attacker:
        link = begun(attacker)
    refused(client, client.get(link))
    assert lab.provider.asked.count("token") == 0, "the code is not even shown"


def test_a_login_is_finished_once(client: httpx.Client) -> None:
    link = begun(client)
    assert client.get(link).status_code == 303
    client.cookies.delete("warren_session")
    refused(client, client.get(link))


@pytest.mark.parametrize("state", ["", "x", "é", "x" * 5000])
def test_a_state_that_is_none(client: httpx.Client, state: str) -> None:
    begun(client)
    answer = client.get("/login/callback", params={"code": "x", "state": state})
    refused(client, answer)


def test_another_provider_cannot_answer(client: httpx.Client) -> None:
    link = begun(client)
    own = parse_qs(urlsplit(link).query)["iss"][0]
    answer = client.get(link.replace(quote(own, safe=""), "https%3A%2F%2Fevil.example"))
    refused(client, answer)
    assert "Another identity provider" in answer.text


def test_what_the_provider_says_is_shown_as_text(lab: Lab, client: httpx.Client) -> None:
    said = "<script>alert(1)</script>\x1b[31m" + "x" * 10_000
    lab.provider.denies = {"error": "access_denied", "error_description": said[:3000]}
    answer = client.get(begun(client))
    refused(client, answer)
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert "\x1b" not in answer.text
    assert len(answer.text) < 4000


def test_an_address_that_nobody_has_verified_gives_no_role() -> None:
    lab = Lab(roles_claim="email", admins=["ada@example.com"])
    lab.provider.claims |= {"email": "ada@example.com"}
    with lab.serving() as client:
        assert log_in(client).status_code == 403
        lab.provider.claims["email_verified"] = "true"
        assert log_in(client).status_code == 403
        lab.provider.claims["email_verified"] = True
        assert log_in(client).status_code == 200


def test_what_userinfo_says_of_somebody_else_counts_nothing(lab: Lab, client: httpx.Client) -> None:
    del lab.provider.claims["groups"]
    lab.provider.info = {"sub": "u-1", "groups": ["staff"]}
    assert log_in(client).status_code == 200
    lab.provider.info = {"sub": "u-2", "groups": ["oncall"]}
    client.cookies.clear()
    assert log_in(client).status_code == 403


ELSEWHERE = [
    "//evil.example/",
    "///evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\\/evil.example",
    "https://evil.example/",
    "https:evil.example",
    "javascript:alert(1)",
    "evil.example",
    "",
    "/é",
    "/ /evil.example",
    "/login?next=/",
    "/logout",
    "/" + "x" * 1500,
    "//[",
]


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_a_login_leads_nowhere_else(client: httpx.Client, wanted: str) -> None:
    assert next_path(wanted) == "/"
    at_provider = client.get("/login", params={"next": wanted}).headers["Location"]
    back = httpx.get(at_provider).headers["Location"]
    assert client.get(back).headers["Location"] == "/"


@pytest.mark.parametrize("wanted", ["/", "/groups/demo/a%2Fb?x=%20y&z=//evil", "/incidents#x"])
def test_a_login_leads_back(wanted: str) -> None:
    assert next_path(wanted) == wanted


@pytest.mark.parametrize("cookie", ["", "x", "eyJwZXJzb24iOlsiZXZlIiwiYWRtaW4iLCJ1Iiw5OV19.a.b"])
def test_a_session_cannot_be_made(client: httpx.Client, cookie: str) -> None:
    assert client.get("/", headers={"Cookie": f"warren_session={cookie}"}).status_code == 303


def test_a_session_cannot_be_given_to_somebody(lab: Lab, client: httpx.Client) -> None:
    """One that was there before is not that of whoever logs in."""
    with lab.client() as attacker:
        lab.provider.claims["preferred_username"] = "mallory"
        log_in(attacker)
        theirs = session_of(attacker) or ""
    lab.provider.claims["preferred_username"] = "ada"
    client.cookies.set("warren_session", theirs, domain="127.0.0.1", path="/")
    assert "mallory" in client.get("/").text
    assert client.get(begun(client)).status_code == 303
    (mine,) = [cookie.value for cookie in client.cookies.jar if cookie.name == "warren_session"]
    assert mine != theirs
    assert "ada" in client.get("/").text


OTHERS: list[dict[str, str]] = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://named.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {},
]


@pytest.mark.parametrize("headers", OTHERS)
def test_pages_of_others_change_nothing(headers: dict[str, str]) -> None:
    lab = Lab()
    lab.api.api = lab.api.api.model_copy(update={"cors_origins": ["https://named.example"]})
    lab.api.settings = None
    lab.api.__post_init__()
    with lab.serving() as client:
        log_in(client)
        for path in ("/incidents/i-1", "/groups/demo/billing/silence", "/api/v1/silences"):
            answer = client.post(path, headers=headers, json={"group": "x", "for_seconds": 9})
            assert answer.status_code == 403
        assert client.post("/logout", headers=headers).status_code == 403
        assert client.get("/").status_code == 200
        assert lab.api.model.silences.acknowledgement("i-1") is None
        assert not list(lab.api.model.silences.all())


def test_a_provider_that_calls_itself_otherwise_is_not_believed() -> None:
    lab = Lab()
    lab.provider.discovery["issuer"] = "https://evil.example"
    with lab.serving() as client, capture_logs() as logs:
        assert client.get("/login").status_code == 503
    assert any("api.oidc.issuer" in str(line.get("problem")) for line in logs)


def test_the_client_proves_who_it_is(lab: Lab, client: httpx.Client) -> None:
    lab.provider.secret = "another"
    answer = client.get(begun(client))
    refused(client, answer)
    assert "did not take the login" in answer.text


def test_pages_of_people_are_kept_by_nobody_else(client: httpx.Client) -> None:
    log_in(client)
    for path in ("/", "/incidents"):
        control = client.get(path).headers["Cache-Control"]
        assert "private" in control
    with httpx.Client(base_url=client.base_url, headers=PAGE) as another:
        tag = client.get("/fragments/groups").headers["ETag"]
        answer = another.get("/fragments/groups", headers={"If-None-Match": tag})
        assert answer.status_code == 401
    shared = client.get("/fragments/groups", headers={"If-None-Match": '"x"'})
    assert "ada" not in shared.text
