"""Pages with forms: silencing, ending it, looking after an incident; without any script."""

from urllib.parse import unquote, urlencode

import httpx
import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from warren_api.pages.asking import lasting

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HOSTILE = "<b>\u202egroup.*/🦆"


@pytest.fixture
def api(api: Api) -> Api:
    api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW})
    api.put("billing2", status="ERR")
    return api


def post(api: Api, path: str, headers: dict[str, str] | None = None, **said: str) -> httpx.Response:
    own = {"Origin": "http://localhost", **FORM}
    return api.request("POST", path, content=urlencode(said), headers=own | (headers or {}))


def test_a_group_is_silenced_shown_as_such_and_told_of_again(api: Api) -> None:
    (link,) = page(api, "/groups/demo/billing").select("a[href$='/silence']")
    form = page(api, str(link["href"])).form
    assert form is not None
    for control in form.select("input, select"):
        assert control.find_parent("label") is not None
    answer = post(api, str(form["action"]), length="1h", why="<i>moving</i>", by="ada")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/groups/demo/billing")
    (silence,) = api.model.silences.all()
    assert silence.ends_at - silence.begins_at == 3_600_000
    assert silence.holds_at(NOW)
    badges = [
        [text(badge) for badge in row.select(".said")]
        for row in page(api, "/?q=is:any").select("tbody tr")
    ]
    assert badges == [[], ["silenced"]], "exactly this group, and it is listed as before"
    for path in ("/groups/demo/billing", "/fragments/groups/demo/billing"):
        shown = page(api, path)
        assert "Silenced until" in text(shown)
        assert "<i>moving</i>" in text(shown), "as text"
    ending = page(api, f"/silences/{silence.id}").form
    assert ending is not None
    answer = post(api, str(ending["action"]))
    assert answer.headers["Location"] == f"/silences/{silence.id}"
    assert "no, it has ended" in text(page(api, f"/silences/{silence.id}"))
    assert not page(api, "/?q=is:any").select(".said")


def test_an_incident_is_acknowledged_from_its_page_and_that_is_taken_back(api: Api) -> None:
    (button,) = page(api, "/groups/demo/billing").select("form[action='/incidents/i-1'] button")
    assert text(button) == "Acknowledge"
    for _ in range(3):
        assert api.get("/incidents/i-1").status_code == 200
    assert api.model.silences.acknowledgement("i-1") is None, "a GET changes nothing"
    assert post(api, "/incidents/i-1", by="grace", why="on it").status_code == 303
    assert "grace" in text(page(api, "/incidents/i-1"))
    (badge,) = page(api, "/?q=is:any").select(".said")
    assert (text(badge), badge["href"]) == ("acknowledged", "/incidents/i-1")
    assert "Acknowledged by grace : on it" in text(page(api, "/groups/demo/billing"))
    post(api, "/incidents/i-1", undo="1")
    assert api.model.silences.acknowledgement("i-1") is None


def test_names_of_all_kinds_are_silenced_exactly(api: Api) -> None:
    api.put(HOSTILE, status="ERR")
    links = page(api, "/?q=is:any").select("tbody th a")
    (path,) = [str(a["href"]) for a in links if unquote(str(a["href"])).endswith(HOSTILE)]
    answer = post(api, f"{path}/silence", length="1h", why="x")
    assert answer.status_code == 303
    assert answer.headers["Location"] == path
    assert "Silenced" in text(page(api, path))
    in_force = api.model.silences.in_force(NOW)
    assert in_force.of("demo", HOSTILE) is not None
    assert in_force.of("demo", HOSTILE + "x") is None
    assert in_force.of("demo2", HOSTILE) is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"why": "x"}, "How long it lasts must be"),
        ({"length": "0h", "why": "x"}, "How long it lasts must be"),
        ({"length": "²h", "why": "x"}, "How long it lasts must be"),
        ({"length": "9" * 5000, "why": "x"}, "How long it lasts must be"),
        ({"length": "1h", "why": "x" * 501}, "The reason must have at most 500 characters"),
        ({}, "How long it lasts must be"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_written_is_kept(
    api: Api, said: dict[str, str], problem: str
) -> None:
    answer = post(api, "/groups/demo/billing/silence", by="ada", **said)
    assert answer.status_code == 422
    assert problem in answer.text
    assert 'value="ada"' in answer.text
    assert not api.model.silences.all()


@pytest.mark.parametrize(
    ("length", "now", "seconds"),
    [
        ("30m", 0, 1800),
        ("7d", 0, 604_800),
        ("9:00", 0, 9 * 3600),
        ("3:30", 3600, 9000),
        ("23:59", 0, 86_340),
        ("24:00", 0, 0),
        ("9:00", 9 * 3600, 86_400),
        ("9:00", 10 * 3600, 23 * 3600),
        ("2y", 0, 0),
    ],
)
def test_a_silence_lasts_as_its_button_says(length: str, now: int, seconds: int) -> None:
    assert lasting(length, now * 1000) == seconds
