"""`warren silence` and `warren ack` against the API."""

import json

import pytest
from api.served_api import NOW, Api, served
from cli.asked_api import run
from warren.api_tokens import hash_of
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.settings import ApiSettings, ApiToken
from warren_cli.api_client import ApiRefused, ApiUnavailable
from warren_cli.commands.silence import seconds

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def api() -> Api:
    return Api(clock=SystemClock())  # type: ignore[arg-type]  # the command's clock is the real one


def test_add_list_and_end(api: Api, address: str) -> None:
    asked = ("--group", "^billing", "--owner", "pay", "--for", "1h30m", "--why", "moving")
    asked += ("--by", "ada")
    added = run("silence", "add", *asked, "--api", address)
    assert "it is about none of the groups that there are now" in added.stderr
    (silence,) = api.model.silences.all()
    assert added.stdout == f"silence {silence.id} for 1h 30m\n"
    what = (silence.cluster, silence.group, silence.owner, silence.by, silence.why)
    assert what == ("", "^billing", "pay", "ada", "moving")
    assert silence.ends_at - silence.begins_at == 5_400_000
    listed = run("silence", "list", "--api", address).stdout
    for text in (silence.id, "^billing", "pay", "in 1h", "ada", "moving"):
        assert text in listed
    assert listed == run("get", "silences", "--api", address).stdout
    ended = run("silence", "end", silence.id, "--json", "--api", address)
    assert json.loads(ended.stdout)["in_force"] is False
    over = run("silence", "list", "--api", address)
    assert over.stdout == ""
    assert "no silences to show\n" in over.stderr  # where the server's threads may log too
    assert f"{silence.id}" in run("silence", "list", "--all", "--api", address).stdout


def test_what_cannot_be_says_which_option(address: str) -> None:
    why = ("--why", "moving", "--api", address)
    with pytest.raises(SettingsError, match="--for: 'soon' is no span"):
        run("silence", "add", "--group", "x", "--for", "soon", *why)
    with pytest.raises(SettingsError, match="cluster, group or owner is needed"):
        run("silence", "add", "--for", "1h", *why)
    with pytest.raises(ApiRefused, match="No silence nothing"):
        run("silence", "end", "nothing", "--api", address)
    with pytest.raises(ApiUnavailable):
        run("silence", "list", "--api", "http://127.0.0.1:1")


def test_a_token_is_needed_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = [ApiToken(name="ada", role="admin", hash=hash_of("a" * 30))]
    api = Api(api=ApiSettings(tokens=tokens))
    asked = ("silence", "add", "--group", "x", "--for", "1h", "--why", "moving", "--api")
    with served(api) as address:
        with pytest.raises(ApiRefused, match="WARREN_TOKEN"):
            run(*asked, address)
        monkeypatch.setenv("WARREN_TOKEN", "a" * 30)
        run(*asked, address)
    assert [silence.by for silence in api.model.silences.all()] == ["ada"]


def test_an_incident_is_acknowledged_by_its_beginning(api: Api, address: str) -> None:
    for name in ("one", "two"):
        incident = {"id": f"abc{name}", "opened_at": NOW}
        api.put(name, status="ERR", incident=incident)
    with pytest.raises(SettingsError, match="2 open incidents begin with abc"):
        run("ack", "abc", "--api", address)
    with pytest.raises(SettingsError, match="INCIDENT: is empty"):  # an unset variable
        run("ack", "", "--api", address)
    with pytest.raises(SettingsError, match="no open incident begins with x"):
        run("ack", "x", "--api", address)
    said = run("ack", "abco", "--by", "grace", "--why", "restarting", "--api", address)
    assert said.stdout == "incident abcone of demo/one is acknowledged\n"
    acknowledgement = api.model.silences.acknowledgement("abcone")
    assert acknowledgement is not None
    assert (acknowledgement.by, acknowledgement.why) == ("grace", "restarting")
    run("silence", "add", "--group", "two", "--for", "1h", "--why", "moving", "--api", address)
    shown = run("status", "--api", address).stdout
    assert "UNKNOWN acked" in shown
    assert "UNKNOWN silenced" in shown
    assert "no longer" in run("ack", "abco", "--undo", "--api", address).stdout
    assert api.model.silences.acknowledgement("abcone") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2h", 7200), ("1d12h", 129_600), ("90m", 5400), ("1w", 604_800), ("1h 30m", 5400)],
)
def test_spans_of_time(text: str, expected: int) -> None:
    assert seconds(text, "--for") == expected


@pytest.mark.parametrize("text", ["", "2", "h", "-2h", "2y", "0h", "2h and more"])
def test_what_is_no_span_of_time(text: str) -> None:
    with pytest.raises(SettingsError, match="--for"):
        seconds(text, "--for")


def test_an_incident_is_found_by_the_id_of_a_condition(api: Api, address: str) -> None:
    """Groups are listed with that of their status, which may not be the first condition."""
    kind = "warren.group.freshness.changed"
    now = SystemClock().now_ms()
    api.change("billing", "ERR", now - 1, incident_id="late-1", type=kind, objectives=[])
    api.put("billing", status="ERR", incident={"id": "stuck-1", "opened_at": now})
    api.change("billing", "ERR", now, incident_id="stuck-1")
    said = run("ack", "stuck", "--api", address).stdout
    assert said == "incident late-1 of demo/billing is acknowledged\n"
    shown = run("describe", "incident", "stuck-1", "--api", address).stdout
    assert "late-1" in shown
    assert "consumer status ERR, freshness ERR" in shown  # each change says of which it is
    rows = shown[shown.index("changed") :].splitlines()
    assert "condition" in rows[0]
    assert ["freshness" in rows[1], "consumer status" in rows[2]] == [True, True]


def test_an_incident_is_found_by_its_group(api: Api, address: str) -> None:
    now = SystemClock().now_ms()
    api.put("billing", status="ERR", incident={"id": "stuck-1", "opened_at": now})
    api.change("billing", "ERR", now, incident_id="stuck-1")
    said = run("ack", "demo/billing", "--api", address).stdout
    assert said == "incident stuck-1 of demo/billing is acknowledged\n"
    assert "stuck-1" in run("describe", "incident", "demo/billing", "--api", address).stdout
    with pytest.raises(SettingsError, match="of a group of that name"):
        run("ack", "demo/bill", "--api", address)
