"""People log in at an identity provider, and what they may then."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from api.login_lab import ADMIN_TOKEN, Lab, begun, log_in, session_of
from api.served_api import Api
from bs4 import BeautifulSoup
from structlog.testing import capture_logs
from support.identity_provider import new_key
from support.waiting import eventually

OWN = {"Sec-Fetch-Site": "same-origin"}
BEARER = {"Authorization": f"Bearer {ADMIN_TOKEN}", "Accept": "*/*"}


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture
def client(lab: Lab) -> Iterator[httpx.Client]:
    with lab.serving() as client:
        yield client


def changes(logs: list[Any]) -> list[Any]:
    return [line for line in logs if line["event"] == "changing something"]


def test_whoever_asks_for_a_page_logs_in_and_gets_it(lab: Lab, client: httpx.Client) -> None:
    with capture_logs() as logs:
        answer = log_in(client, "/?q=bill&sort=lag")
    assert answer.status_code == 200
    assert answer.url == f"{lab.url}/?q=bill&sort=lag"
    text = BeautifulSoup(answer.text, "html.parser").get_text(" ")
    assert "billing" in text
    assert "ada" in text
    assert "Log out" in text
    (line,) = [line for line in logs if line["event"] == "logged in"]
    assert (line["person"], line["subject"], line["role"]) == ("ada", "u-1", "admin")
    (asked,) = lab.provider.authorizations
    assert asked["nonce"] != asked["state"]
    assert asked["scope"] == "openid profile email"
    for path in ("/api/v1/groups", "/metrics", "/v3/kafka", "/fragments/groups"):
        assert client.get(path, headers={"Accept": "*/*"}).status_code == 200


def test_over_https_cookies_are_of_this_host_alone() -> None:
    lab = Lab(public_url="https://warren.example")
    with lab.serving() as client:
        answer = client.get("/login", headers={"Host": "warren.example"})
    (cookie,) = answer.headers.get_list("set-cookie")
    assert re.fullmatch(
        "__Host-warren_session=[^;]+; path=/; Max-Age=28800; httponly; samesite=lax; secure", cookie
    )


def test_who_may_only_read_changes_nothing(lab: Lab, client: httpx.Client) -> None:
    lab.provider.claims["groups"] = ["staff", "others"]
    assert "may only read" in log_in(client, "/incidents/i-1").text
    page = BeautifulSoup(client.get("/incidents/i-1").text, "html.parser")
    assert page.select(".actions button[disabled]")
    with capture_logs() as logs:
        answer = client.post("/incidents/i-1", headers={"Origin": lab.url})
    assert answer.status_code == 403
    assert "ada may only read" in answer.text
    assert lab.api.model.silences.acknowledgement("i-1") is None
    (line,) = [line for line in logs if line["event"] == "refused to change something"]
    assert (line["person"], line["path"]) == ("ada", "/incidents/i-1")


def test_what_a_person_changes_stands_under_their_name(lab: Lab, client: httpx.Client) -> None:
    page = BeautifulSoup(log_in(client, "/incidents/i-1").text, "html.parser")
    assert not page.select("input[name=by]")
    with capture_logs() as logs:
        answer = client.post(
            "/incidents/i-1", headers={"Origin": lab.url}, data={"by": "eve", "why": "on it"}
        )
    assert answer.status_code == 303
    acknowledgement = lab.api.model.silences.acknowledgement("i-1")
    assert acknowledgement is not None
    assert acknowledgement.by == "ada"
    assert "acknowledged by ada: on it" in client.get("/incidents/i-1").text.replace(
        "<bdi>", ""
    ).replace("</bdi>", "")
    (line,) = changes(logs)
    assert line == {
        "event": "changing something",
        "log_level": "info",
        "token": None,
        "person": "ada",
        "subject": "u-1",
        "role": "admin",
        "method": "POST",
        "path": "/incidents/i-1",
        "client": "127.0.0.1",
        "status": 303,
    }
    begun_by_v1 = client.post(
        "/api/v1/silences",
        headers={"Origin": lab.url},
        json={"group": "billing", "for_seconds": 60, "why": "x", "by": "eve"},
    )
    assert begun_by_v1.json()["by"] == "ada"
    ended = client.delete(f"/api/v1/silences/{begun_by_v1.json()['id']}", headers=OWN)
    assert ended.json()["ended_by"] == "ada"


def test_a_machine_says_for_whom_it_asks_as_before(client: httpx.Client) -> None:
    silence = {"group": "billing", "for_seconds": 60, "why": "x", "by": "eve"}
    answer = client.post("/api/v1/silences", headers=BEARER, json=silence)
    assert answer.json()["by"] == "eve"
    assert client.get("/metrics", headers=BEARER).status_code == 200
    log_in(client)
    with capture_logs() as logs:
        client.post("/api/v1/silences", headers=BEARER, json=silence)
    assert changes(logs)[0]["token"] == "ops", "a token that comes along counts, not the session"


def test_who_has_no_role_is_told_so(lab: Lab, client: httpx.Client) -> None:
    lab.provider.claims["groups"] = ["others"]
    with capture_logs() as logs:
        answer = log_in(client)
    assert answer.status_code == 403
    assert "may not see this" in answer.text
    assert session_of(client) is None
    (line,) = [line for line in logs if str(line["event"]).startswith("login refused")]
    assert (line["person"], line["claim"]) == ("ada", "groups")
    client.get("/login", params={"anew": "1"})
    assert client.get("/login?anew=1").status_code == 303
    assert "prompt=login" in client.get("/login?anew=1").headers["Location"]


def test_a_session_ends_and_scripts_are_told(lab: Lab, client: httpx.Client) -> None:
    log_in(client)
    lab.api.clock.advance(28_799)
    assert client.get("/fragments/groups").status_code == 200
    lab.api.clock.advance(1)
    answer = client.get("/fragments/groups")
    assert answer.status_code == 401
    assert "Basic" not in answer.headers["www-authenticate"], "a browser would ask for a password"
    page = client.get("/incidents/i-1?x=%20y")
    assert page.headers["Location"] == "/login?next=/incidents/i-1%3Fx%3D%2520y"
    told = client.post("/incidents/i-1", headers={"Origin": lab.url})
    assert told.status_code == 401
    assert "Log in" in told.text


def test_a_stream_ends_with_the_session() -> None:
    lab = Lab(session=60)
    with lab.serving() as client:
        log_in(client)
        lab.api.clock.advance(59.5)
        with client.stream("GET", "/api/v1/events", headers={"Accept": "*/*"}) as stream:
            assert stream.status_code == 200
            text = "".join(stream.iter_text())
    assert text.startswith("retry:")


def test_logging_out_ends_both_sessions(lab: Lab, client: httpx.Client) -> None:
    log_in(client)
    page = client.post("/logout", headers={"Origin": lab.url})
    assert page.status_code == 200
    assert session_of(client) is None
    (refresh,) = BeautifulSoup(page.text, "html.parser").select("meta[http-equiv=refresh]")
    url = str(refresh["content"]).partition("url=")[2]
    assert client.get(url).status_code == 200
    said = json.loads(lab.provider.asked[-1].removeprefix("logout "))
    assert said["post_logout_redirect_uri"] == f"{lab.url}/logged-out"
    assert said["client_id"] == "warren"
    assert "You are logged out" in client.get("/logged-out").text
    assert client.get("/").status_code == 303


def test_a_provider_without_logout_is_left_alone(lab: Lab, client: httpx.Client) -> None:
    lab.provider.discovery["end_session_endpoint"] = None
    log_in(client)
    page = client.post("/logout", headers={"Origin": lab.url})
    assert "http-equiv" not in page.text
    assert session_of(client) is None


def test_roles_in_a_claim_of_another_claim_and_of_userinfo() -> None:
    lab = Lab(roles_claim="realm_access.roles")
    lab.provider.info = {"realm_access": {"roles": ["staff"]}}
    with lab.serving() as client:
        assert "may only read" in log_in(client).text


def test_everybody_may_be_let_in() -> None:
    lab = Lab(viewers=["*"])
    lab.provider.claims["groups"] = "nothing"
    with lab.serving() as client:
        assert "may only read" in log_in(client).text


def test_another_copy_of_the_api_knows_the_session() -> None:
    first = Lab()
    second = Lab(first.provider, public_url=first.url)
    unrelated = Lab(first.provider, public_url=first.url, session_secret="")
    others = Lab(first.provider, public_url=first.url, admins=["chiefs"])
    with (
        first.serving() as client,
        second.serving_alone(),
        unrelated.serving_alone(),
        others.serving_alone(),
    ):
        log_in(client)
        assert client.get(f"{second.url}/").status_code == 200
        assert client.get(f"{unrelated.url}/").status_code == 303
        assert client.get(f"{others.url}/").status_code == 303, "others may other things there"


def test_who_comes_by_another_name_is_led_to_where_the_provider_leads_back(
    lab: Lab, client: httpx.Client
) -> None:
    answer = client.get("/login?next=/incidents", headers={"Host": "elsewhere.example"})
    assert answer.headers["Location"] == f"{lab.url}/login?here=1&next=/incidents"
    behind_a_proxy = client.get(answer.headers["Location"], headers={"Host": "api:8000"})
    assert behind_a_proxy.headers["Location"].startswith(lab.provider.issuer)


def test_without_a_provider_the_api_starts_and_machines_are_served(lab: Lab) -> None:
    with lab.serving_alone() as client:
        assert client.get("/metrics", headers=BEARER).status_code == 200
        assert client.get("/burrow/admin/ready").text == "READY"
        away = log_in(client, "/incidents")
        assert away.status_code == 503
        assert away.headers["Retry-After"] == "5"
        assert "does not answer" in away.text
        with lab.provider.serving():
            lab.api.clock.advance(5)
            assert log_in(client, "/incidents").status_code == 200


def test_a_provider_that_hangs_takes_nobody_elses_place(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warren_api.login.service.DEADLINE", 2.0)
    lab.provider.hangs = threading.Event()
    with lab.serving() as client:

        def wait() -> None:
            with lab.client() as another:
                log_in(another)

        threads = [threading.Thread(target=wait, daemon=True) for _ in range(20)]
        for thread in threads:
            thread.start()
        eventually(lambda: lab.provider.asked, message="the provider was asked")
        assert client.get("/metrics", headers=BEARER).status_code == 200
        assert log_in(client).status_code == 503
        for thread in threads:
            thread.join()


def test_keys_that_change_are_read_again(lab: Lab, client: httpx.Client) -> None:
    log_in(client)
    lab.provider.keys = [new_key("second")]
    assert client.get(begun(client)).status_code == 303
    assert lab.provider.asked.count("keys") == 2


def test_without_oidc_nothing_of_it_is_loaded_or_served() -> None:
    code = (
        "import sys, warren_api.server, warren_api.server\n"
        "print([m for m in ('authlib', 'joserfc', 'itsdangerous') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    for path in ("/login", "/login/callback", "/logged-out"):
        assert Api().get(path).status_code == 404
    assert "Log out" not in Api().get("/").text


def test_where_everybody_may_read_a_login_is_for_changing(lab: Lab) -> None:
    lab.api = Api(api=lab.api.api.model_copy(update={"without_token": "read"}), model=lab.api.model)
    with lab.serving() as client:
        page = BeautifulSoup(client.get("/incidents/i-1").text, "html.parser")
        assert page.select(".actions button[disabled]")
        links = page.find_all("a", string="Log in")
        assert {str(link["href"]) for link in links} == {"/login?next=/incidents/i-1"}
        assert len(links) == 2
        assert client.get("/metrics").status_code == 200
        assert client.post("/incidents/i-1", headers={"Origin": lab.url}).status_code == 401
        log_in(client, str(links[0]["href"]))
        assert client.post("/incidents/i-1", headers={"Origin": lab.url}).status_code == 303
