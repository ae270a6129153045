"""Reports that others have written: linked where they are; nothing else of the folder is served."""

import os
from pathlib import Path

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from warren.settings import ApiSettings
from warren_api.http.middleware import CONTENT_SECURITY_POLICY

REPORT = "<!doctype html><style>p { color: red }</style><p>a report"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With one report, and with what is nobody's business."""
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "last-day.html").write_text(REPORT)
    os.utime(reports / "last-day.html", (NOW / 1000 - 90, NOW / 1000 - 90))
    for secret in (tmp_path / "warren.toml", reports / "other.html", reports / ".last-day.html"):
        secret.write_text("secret")
    (reports / "last-week.html").symlink_to(tmp_path / "nowhere")
    return reports


@pytest.fixture
def api(folder: Path) -> Api:
    api = Api(api=ApiSettings(reports_dir=str(folder)))
    api.put("bill/ing <b>")
    return api


def test_pages_link_those_that_are_there(api: Api) -> None:
    for path in ("/", "/fragments/groups"):
        (link,) = page(api, path).select("a[href^='/reports/']")
        assert (link["href"], text(link)) == (
            "/reports/last-day.html",
            "Report of the last 24 hours",
        )
        assert link.parent is not None
        assert text(link.parent).endswith("as of 1m 30s ago")
    (link,) = page(api, "/groups/demo/bill%2Fing%20%3Cb%3E").select("a[href^='/reports/']")
    assert link["href"] == "/reports/last-day.html#demo/bill%2Fing%20%3Cb%3E"


def test_a_report_may_have_its_own_styles_and_nothing_else(api: Api) -> None:
    answer = api.get("/reports/last-day.html")
    assert (answer.status_code, answer.text) == (200, REPORT)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert api.get("/").headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    "name",
    [
        "other.html",
        ".last-day.html",
        "last-week.html",
        "..%2Fwarren.toml",
        "last-day.html%00",
    ],
)
def test_nothing_else_is_served(api: Api, name: str) -> None:
    answer = api.get(f"/reports/{name}")
    assert answer.status_code == 404
    assert "secret" not in answer.text
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
