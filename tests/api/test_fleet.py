"""The fleet at one glance, and what statuses mean."""

from typing import get_args

from api.read_pages import page, text
from api.served_api import NOW, Api
from warren.contracts import GroupStatusName, PartitionStatusName
from warren.settings import ClusterSettings, GroupSettings, Settings
from warren_api.pages.glossary import STATUSES
from warren_api.search import GroupSearch


def test_owners_and_clusters_are_worst_first_and_lead_to_their_groups() -> None:
    clusters = {name: ClusterSettings(bootstrap="b:9092") for name in ("a", "b", "c")}
    owners = [GroupSettings(groups=[f"^{name}"], owner=name) for name in ("pay", "find")]
    api = Api(settings=Settings(clusters=clusters, groups=owners))
    api.put("pay-1", "a")
    api.put("pay-2", "b", status="WARN")
    for name in ("find-1", "find-2"):
        api.put(name, "b", status="ERR", incident={"id": name, "opened_at": NOW})
    api.put("other", "c")
    shown = page(api, "/fleet")
    assert [text(head) for head in shown.select("thead th")] == ["Owner", "All", "b"]
    rows = {text(row.select("th a")[0]): row for row in shown.select("tbody tr")}
    assert list(rows) == ["find", "pay", "no owner"]
    assert [text(cell) for cell in rows["find"].select("td")] == ["2 ERR", "2 ERR"]
    (link,) = rows["pay"].select("td a.count")[:1]
    assert text(link) == "1 WARN"
    (found,) = page(api, str(link["href"])).select("tbody tr")
    assert "pay-2" in text(found)
    assert not GroupSearch('owner:="" cluster:="c"').problems
    assert "2 clusters without trouble." in text(shown)


def test_each_badge_leads_to_what_it_means(api: Api) -> None:
    known = {*get_args(GroupStatusName), *get_args(PartitionStatusName), "UNKNOWN"}
    assert known - {"NOTFOUND"} <= STATUSES.keys(), "Burrow's word for a group that is not there"
    api.put("billing", status="ERR", incident={"id": "i", "opened_at": NOW})
    meanings = page(api, "/statuses")
    for path in ("/", "/incidents", "/groups/demo/billing"):
        for badge in page(api, path).select("a.status"):
            assert meanings.select(str(badge["href"]).removeprefix("/statuses"))
