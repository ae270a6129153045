"""`warren get`, `warren describe` and the list of `warren events` against the API."""

import json
import re
from typing import get_args

import pytest
import yaml
from api.served_api import Api, late
from cli.asked_api import run
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren_api.pages.overview import Sort
from warren_api.v1.groups import GroupSort
from warren_cli.commands.options import GroupOrder
from warren_cli.resources.output import Form

HOUR = 3_600_000

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def api() -> Api:
    made = Api(clock=SystemClock(), clusters=("demo", "eu"))  # type: ignore[arg-type]  # as the command's
    now = SystemClock().now_ms()
    for name in ("mailer", "billing", "orders/eu"):
        made.put(name, evaluated_at=now)
    made.put("billing-audit", "eu", evaluated_at=now)
    made.put("mailer", "eu", evaluated_at=now)
    made.change("billing", "ERR", now - 120_000, explanation="orders/1: no commit")
    opened = {"id": f"billing-{now - 120_000}", "opened_at": now - 120_000}
    made.put("billing", status="ERR", evaluated_at=now, incident=opened)
    return made


def names(*arguments: str) -> list[str]:
    return run("get", *arguments, "-o", "name").stdout.splitlines()


def test_names_one_a_line_filtered_by_the_api(address: str) -> None:
    here = ("--api", address)
    everything = ["demo/billing", "demo/mailer", "demo/orders/eu", "eu/billing-audit", "eu/mailer"]
    assert sorted(names("groups", *here)) == everything
    assert sorted(names("group", *here)) == everything  # the singular as well
    assert sorted(names("groups", "^billing", *here)) == ["demo/billing", "eu/billing-audit"]
    assert names("groups", "--cluster", "eu", "--sort", "name", *here) == everything[3:]
    assert names("groups", "--status", "err", *here) == ["demo/billing"]
    assert names("groups", "--topic", "other", *here) == []
    assert names("groups", "-q", "status:err since:>1m", *here) == ["demo/billing"]
    assert names("groups", "--search", "owner:nobody", *here) == []
    assert names("clusters", *here) == ["demo", "eu"]
    assert sorted(names("topics", *here)) == ["demo/orders", "eu/orders"]


def test_pages_the_api_and_commands_sort_by_the_same_keys() -> None:
    keys = {order.value for order in GroupOrder}
    assert keys == set(get_args(Sort))
    assert keys == set(get_args(GroupSort))


@pytest.mark.parametrize("form", list(Form))
def test_every_command_writes_in_every_form(address: str, form: Form) -> None:
    here = ("-o", form.value, "--api", address)
    for command in (
        ("status",),
        ("get", "groups", "^billing$"),
        ("describe", "group", "demo/billing"),
        ("events",),
    ):
        shown = run(*command, *here).stdout
        assert "billing" in shown
        assert "None" not in shown
        if form is Form.NAME:
            assert shown == "demo/billing\n"
        if form is Form.YAML:
            assert yaml.safe_load(shown)
        if form is Form.JSON:
            assert json.loads(shown)


def test_nothing_of_a_group_that_nobody_judges_is_said_to_be_none(api: Api, address: str) -> None:
    api.describe("thumbnails", protocol="share")
    shown = run("describe", "group", "thumbnails", "--api", address).stdout
    assert "not judged" in shown
    assert "None" not in shown


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("get groups -q late:soon", r"late: needs a duration, e\.g\. late:>10m"),
        ("get groups --cluster demoo", r"no cluster demoo\. Did you mean demo\?"),
        ("describe group mailer", "demo/mailer, eu/mailer"),
        ("describe group biling", "no group biling; `warren get groups` lists them"),
        ("describe group eu/", "no group"),
        ("describe group /", "no group"),
        ("describe group gone/mailer", "no group"),
        ("describe group mailer --cluster gone", "no cluster gone; there are: demo, eu"),
        ("describe incident x", "no incident begins with x"),
    ],
)
def test_refusals_say_what_there_is(address: str, command: str, refusal: str) -> None:
    with pytest.raises(SettingsError, match=refusal):
        run(*command.split(), "--api", address)


def test_describe_nothing(address: str) -> None:
    with pytest.raises(SettingsError, match="is empty: name one, as `warren get groups` lists"):
        run("describe", "group", "", "--api", address)


def test_a_table_says_how_many_it_left_out(address: str) -> None:
    shown = run("get", "groups", "--sort", "name", "--limit", "2", "--api", address)
    assert [line.split()[:2] for line in shown.stdout.splitlines()] == [
        ["cluster", "group"],
        ["demo", "billing"],
        ["demo", "mailer"],
    ]
    assert "3 more groups (--limit)" in shown.stderr


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_documents_are_what_the_api_says(address: str, form: str) -> None:
    text = run("get", "groups", "--cluster", "eu", "-o", form, "--api", address).stdout
    body = json.loads(text) if form == "json" else yaml.safe_load(text)
    assert [row["cluster"] for row in body["groups"]] == ["eu", "eu"]
    assert body["total"] == 2


def test_a_topic_that_nobody_reads(address: str) -> None:
    said = run("get", "groups", "--topic", "ordres", "--api", address).stderr
    assert "No group reads the topic ordres. Did you mean orders?" in said
    said = run("get", "groups", "--topic", "x", "--cluster", "eu", "--api", address).stderr
    assert said.splitlines()[1] == "warren: No group reads the topic x."
    said = run("get", "groups", "--topic", "orders", "--status", "stop", "--api", address).stderr
    assert "reads" not in said


def test_incidents_open_or_all(api: Api, address: str) -> None:
    now = SystemClock().now_ms()
    api.change("mailer", "ERR", now - 90_000)
    api.change("mailer", "OK", now - 60_000, opened_at=now - 90_000, previous="ERR")
    (open_one,) = names("incidents", "--api", address)
    assert open_one.startswith("billing-")
    assert len(names("incidents", "--all", "--api", address)) == 2
    table = run("get", "incidents", "--api", address).stdout
    assert "billing" in table
    assert "ERR" in table
    assert "mailer" not in table


def test_a_word_that_looks_like_a_key_and_finds_nothing_is_told_of(address: str) -> None:
    shown = run("get", "groups", "-q", "staus:err", "--api", address)
    assert shown.stdout == ""
    assert "warren: Unknown filter “staus:”" in shown.stderr
    assert "did you mean status:?" in shown.stderr
    assert "Unknown filter" not in run("get", "groups", "-q", "status:err", "--api", address).stderr


def test_describe_tells_the_root_of_what_is_over_and_what_was_lost(api: Api, address: str) -> None:
    at = SystemClock().now_ms() - 60_000
    down = {"incident_id": "down-1", "opened_at": at}
    gone = {"incident_id": "gone-1", "opened_at": at, "type": "warren.group.retention.changed"}
    breach = {"objective": "retention", "limit": "lost_records", "status": "ERR", "since": at}
    breach |= {"value": 4_270, "wanted": 0, "sentence": "4,270 unread records deleted"}
    told = {"objectives": [breach], "explanation": breach["sentence"]}
    api.change("mailer", "ERR", at, explanation="No commit for 40s", **down)
    api.change("mailer", "ERR", at + 1_000, **gone, **told)
    for about in (down, gone):
        api.change("mailer", "OK", at + 2_000, previous="ERR", **about)
    shown = run("describe", "incident", "down-1", "--api", address).stdout
    said = " ".join(shown.split())
    assert "lost 4,270 records stay lost" in said
    assert "was Not OK, losing data" in said


def test_describe_tells_the_root_and_then_what_follows(api: Api, address: str) -> None:
    gone = {"name": "records_lost", "sentence": "9 are gone", "action": "keep them"}
    cause = {"name": "stuck", "sentence": "it stands", "action": "look", "also": [gone]}
    opened = SystemClock().now_ms() - 60_000
    incident = {"id": f"billing-{opened}", "opened_at": opened}
    api.put(
        "billing",
        status="ERR",
        cause=cause,
        incident=incident,
        evaluated_at=opened + 60_000,
    )
    api.change("billing", "ERR", opened, cause=cause)
    shown = run("describe", "group", "billing", "--api", address).stdout
    of_incident = run("describe", "incident", str(incident["id"]), "--api", address).stdout
    for told in (shown, of_incident):
        said = " ".join(told.split())
        assert "cause it stands what to do look also 9 are gone then keep them" in said


def test_describe_says_since_when_a_group_is_not_ok_and_since_when_it_is_so(
    api: Api, address: str
) -> None:
    opened_at = api.clock.now_ms() - 5 * HOUR
    incident = {"id": f"payroll-{opened_at}", "opened_at": opened_at}
    evaluated_at = api.clock.now_ms()
    api.put("payroll", status="ERR", evaluated_at=evaluated_at, incident=incident)
    fact = re.compile(r"status +(.*)")

    def status() -> str:
        shown = run("describe", "group", "payroll", "--api", address).stdout
        return next(found[1] for line in shown.splitlines() if (found := fact.match(line)))

    api.change("payroll", "ERR", opened_at, opened_at=opened_at)
    assert re.fullmatch(r"ERR for 5h[^,]*", status()), "it was nothing else before"
    api.change("payroll", "ERR", opened_at + 2 * HOUR, previous="WARN", opened_at=opened_at)
    assert re.fullmatch(r"ERR for 3h.*, not OK for 5h.*", status())


def test_describe_is_of_the_group_that_is_listed_so_whatever_others_are_called(
    api: Api, address: str
) -> None:
    api.put("eu/mailer", "demo", evaluated_at=SystemClock().now_ms())
    for name, wanted in (("eu/mailer", "eu"), ("demo/eu/mailer", "demo")):
        shown = run("describe", "group", name, "-o", "yaml", "--api", address).stdout
        assert yaml.safe_load(shown)["cluster"] == wanted


@pytest.mark.parametrize(
    "name", ["a.b-c" * 60, "an.e/mail+of(all)." * 15, "..", ".", "100% ?#&", "ж" * 249]
)
def test_describe_whatever_it_is_called(api: Api, address: str, name: str) -> None:
    """What an expression for it would be longer than the API takes, or a path would not keep."""
    api.put(name, "eu", evaluated_at=SystemClock().now_ms())
    for arguments in ((name, "--cluster", "eu"), (name,), (f"eu/{name}",)):
        shown = run("describe", "group", *arguments, "-o", "yaml", "--api", address).stdout
        assert yaml.safe_load(shown)["group"] == name


def test_clusters_that_lose_data_and_those_that_will(api: Api, address: str) -> None:
    api.measure("billing", late(60_000, lost_records=3))
    api.measure("mailer", late(3_600_000, time_to_loss_ms=60_000))
    head, demo, _ = run("get", "clusters", "-o", "wide", "--api", address).stdout.splitlines()
    begins = {name: head.index(name) for name in ("losing data", "will lose data")}
    ends = {name: begin + len(name) for name, begin in begins.items()}
    assert {name: demo[begins[name] : ends[name]].strip() for name in begins} == {
        "losing data": "1",
        "will lose data": "1",
    }


def test_describe_a_topic(address: str) -> None:
    shown = run("describe", "topic", "demo/orders", "--api", address).stdout
    assert "read by" in shown
    assert {"billing", "mailer", "orders/eu"} <= set(shown.split())


def test_describe_an_incident_by_its_beginning(address: str) -> None:
    shown = run("describe", "incident", "billing-", "--api", address).stdout
    assert "demo/billing" in shown
    assert "orders/1: no commit" in shown
    assert ", ongoing" in shown


def test_names_that_attack_do_not_reach_the_terminal(api: Api, address: str) -> None:
    api.put("evil\x1b[2J\r\ngroup", evaluated_at=SystemClock().now_ms())
    for command in (("get", "groups"), ("get", "groups", "-o", "name")):
        shown = run(*command, "--api", address).stdout
        assert "\x1b" not in shown
        assert "␛[2J" in shown


def test_events_that_are_remembered(api: Api, address: str) -> None:
    now = SystemClock().now_ms()
    api.change("mailer", "ERR", now - 60_000, explanation="stuck")
    shown = run("events", "--api", address).stdout.splitlines()
    assert [line.split()[1:5] for line in shown] == [
        ["demo/billing", "OK", "->", "ERR"],
        ["demo/mailer", "OK", "->", "ERR"],
    ]
    (last,) = run("events", "--last", "1", "-o", "json", "--api", address).stdout.splitlines()
    assert json.loads(last)["group"] == "mailer"
    only = run("events", "--group", "^billing$", "--api", address).stdout.splitlines()
    assert only == shown[:1]


def test_a_command_that_there_is_not() -> None:
    answer = run("gte")
    assert answer.exit_code == 2
    assert "Did you mean 'get'" in answer.stderr
