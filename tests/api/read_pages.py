"""What a page says, read as people do."""

from api.served_api import NOW, Api, topic
from bs4 import BeautifulSoup, Tag

NONE = "\u2013"


STOPPED = {"status": "STOP", "lag": 12_345, "committed_at": NOW - 252_000, "log_end": 12_445}


def page(api: Api, path: str, status_code: int = 200) -> BeautifulSoup:
    answer = api.get(path)
    assert answer.status_code == status_code
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return BeautifulSoup(answer.text, "html.parser")


def text(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def cells(row: Tag) -> dict[str, str]:
    return {str(cell["data-label"]): text(cell) for cell in row.select("[data-label]")}


def row_of(api: Api, group: str) -> Tag:
    (row,) = page(api, f"/?q={group}").select("tbody tr")
    return row


def fact(soup: BeautifulSoup, name: str) -> Tag:
    (found,) = [fact for fact in soup.select(".facts > div") if text(fact).startswith(name)]
    return found


def fill(api: Api) -> Api:
    incident = {"id": "5b6a", "opened_at": NOW - 252_000}
    topics = {"orders": topic({}, STOPPED, {"status": "STOP", "lag": 3})}
    api.put("billing", status="ERR", total_lag=12_348, incident=incident, topics=topics)
    api.put("mailer", status="WARN", cluster="eu", complete=0.999)
    api.put("fine")
    api.clock.advance(3)
    return api
