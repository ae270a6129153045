"""Views of the overview get a name from the page and by the API, are linked, replaced, removed."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api, Obeying
from api.test_asking_pages import post
from warren.contracts import SavedView
from warren.errors import ContractViolation, PublishFailed
from warren.settings import ApiSettings
from warren_api.model.saved_views import SavedViews

VIEWS = "/api/v1/views"
HOSTILE = "<b>late/?#"


@pytest.fixture
def api(api: Api) -> Api:
    api.put("billing", status="ERR")
    api.put("other", status="OK")
    return api


def test_a_view_is_saved_from_the_page_that_shows_it_and_leads_back_to_it(api: Api) -> None:
    shown = page(api, "/?q=bill&by=cluster&page=1")
    (saving,) = [link for link in shown.select(".menu a") if "Save it" in text(link)]
    form = page(api, str(saving["href"])).form
    assert form is not None
    (query,) = form.select("input[name=query]")
    for control in form.select("input:not([type=hidden])"):
        assert control.find_parent("label") is not None
    answer = post(
        api, str(form["action"]), query=str(query["value"]), name=f" {HOSTILE} ", by="ada"
    )
    assert answer.status_code == 303
    back = urlsplit(answer.headers["Location"])
    assert (back.path, parse_qs(back.query)) == ("/", {"q": ["bill"], "by": ["cluster"]})
    for path in (answer.headers["Location"], f"/fragments/groups?{back.query}"):
        (link,) = page(api, path).select(".saved a")
        assert (link["href"], link["aria-current"]) == (answer.headers["Location"], "true")
        assert text(link).startswith("<b>")
    (link,) = page(api, "/").select(".saved a")
    assert "aria-current" not in link.attrs


def test_a_view_of_the_same_name_is_replaced_and_one_that_is_not_needed_removed(api: Api) -> None:
    post(api, "/views", query="q=a", name=HOSTILE)
    post(api, "/views", query="q=b", name=HOSTILE)
    post(api, "/views", query="q=c", name="another")
    listed = page(api, "/views")
    assert [str(link["href"]) for link in listed.select("th a")] == ["/?q=b", "/?q=c"]
    removing = listed.select("tbody form")[0]
    assert post(api, str(removing["action"])).headers["Location"] == "/views"
    assert [view.name for view in api.model.saved_views.all()] == ["another"]
    assert post(api, str(removing["action"])).status_code == 303, "somebody was quicker"


@pytest.mark.parametrize(
    "said",
    [
        {"name": ""},
        {"name": "x" * 61},
        {"name": "\0"},
        {"name": "\u200b"},
        {"query": "q=" + "x" * 4000},
        {"query": "q=" + "x" * 301},
        {"query": "sort=lag&colour=red"},
    ],
)
def test_what_is_wrong_is_told_beside_what_was_said(api: Api, said: dict[str, str]) -> None:
    answer = post(api, "/views", **{"name": "late", "query": "q=late"} | said)
    assert answer.status_code == 422
    assert "That did not work" in answer.text
    assert not api.model.saved_views.all()


class Away(Obeying):
    def save_view(self, view: SavedView) -> None:
        raise PublishFailed("home", "home", f"not acknowledged: {view.name}")


def test_what_the_home_cluster_does_not_take_is_not_saved(api: Api) -> None:
    away = Api(asking=Away(api.model))
    answer = post(away, "/views", name="late", query="q=late")
    assert (answer.status_code, "not acknowledged: late" in answer.text) == (422, True)
    assert away.request("POST", VIEWS, json={"name": "l", "query": ""}).status_code == 503


def test_a_view_is_saved_listed_and_removed_by_the_api(api: Api) -> None:
    body = {"name": HOSTILE, "query": "q=late:>5m", "by": "ada"}
    answer = api.request("POST", VIEWS, json=body)
    assert answer.status_code == 201
    assert answer.json() == body | {"at": NOW}
    assert api.get(answer.headers["Location"]).json() == answer.json()
    assert api.get(VIEWS).json() == {"views": [answer.json()]}
    gone = api.request("DELETE", answer.headers["Location"])
    assert (gone.status_code, gone.json()) == (200, answer.json())
    assert api.get(VIEWS).json() == {"views": []}
    assert api.request("DELETE", answer.headers["Location"]).status_code == 404


def test_who_may_only_read_sees_views_and_changes_none() -> None:
    api = Api(api=ApiSettings(without_token="read"), is_loopback=False)
    api.model.saved_views.apply(b"late", _view("late").to_bytes())
    assert [text(link) for link in page(api, "/views").select("th a")] == ["late"]
    for path in ("/views", "/views/late/remove"):
        assert post(api, path, name="x", query="q=a").status_code == 401
    assert [view.name for view in api.model.saved_views.all()] == ["late"]


def test_records_that_are_no_view_change_nothing() -> None:
    views = SavedViews()
    views.apply(b"late", _view("late").to_bytes())
    for key, value in ((b"other", _view("late").to_bytes()), (b"late", b"{}"), (None, b"?")):
        with pytest.raises(ContractViolation):
            views.apply(key, value)
    assert [view.name for view in views.all()] == ["late"]
    before = views.revision
    views.keep_only(set())
    assert (views.all(), views.revision > before) == ([], True)


def _view(name: str) -> SavedView:
    return SavedView(name=name, query="q=late", by="ada", at=NOW)
