"""Who is told, and what is archived and reported, also after services were killed."""

import json
import re
from typing import Any

import pytest
from confluent_kafka import Message
from support.home_topics import home_records, newest_freshness
from support.report_recount import LagRecord, recount
from support.running import Running
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts.topics import ARCHIVED

pytestmark = pytest.mark.timeout(1800)

LAG_STATUS, NOTIFICATIONS = "warren.lag-status", "warren.notifications"
INCIDENTS = "warren.incidents"
IN_TROUBLE = ("demo-slow", "demo-stopped", "demo-stalled")


def arrived(warren: Running, name: str) -> list[dict[str, Any]]:
    file = warren.state / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_opening_and_closing_arrive_by_mail_and_webhook(warren: Running) -> None:
    def told(status: str) -> bool:
        return any(
            hook["event"]["data"]["group"] == "demo-recovering"
            and hook["event"]["data"]["status"] == status
            for hook in arrived(warren, "webhooks.jsonl")
        )

    eventually(lambda: told("ERR") and told("OK"), timeout=240, message="webhooks of both ends")
    assert all(hook["verified"] for hook in arrived(warren, "webhooks.jsonl"))

    def mails(said: str) -> list[dict[str, Any]]:
        return [m for m in arrived(warren, "mails.jsonl") if re.search(said, m["text"])]

    eventually(
        lambda: mails("demo-recovering") and mails("demo-recovering.*OK again"),
        timeout=240,
        message="mails of both ends, alone or with others",
    )
    assert all(mail["text"] and mail["html"] for mail in mails("demo-"))


def test_one_mail_tells_of_groups_that_are_bad_together(warren: Running) -> None:
    """Without anybody having set how they are grouped; webhooks are told of each alone."""

    def together() -> list[dict[str, Any]]:
        return [
            mail
            for mail in arrived(warren, "mails.jsonl")
            if mail["subject"].startswith("[ERR] demo: ") and len(named(mail)) > 1
        ]

    def named(mail: dict[str, Any]) -> set[str]:
        """Groups among the worst that are listed."""
        return set(re.findall(r"^(?:ERR|WARN) (demo-[a-z-]+): ", mail["text"], re.MULTILINE))

    mails = eventually(together, timeout=240, message="a mail about several groups")
    bad = named(mails[0])
    each = re.findall(r"demo-[a-z-]+</b>.*?</div>", mails[0]["html"], re.DOTALL)
    assert len(each) >= len(bad)
    assert all("/incidents/" in one or "/groups/demo/" in one for one in each), "with its link"

    def told_alone() -> set[str]:
        return {hook["event"]["data"]["group"] for hook in arrived(warren, "webhooks.jsonl")}

    eventually(lambda: bad <= told_alone(), timeout=120, message="a webhook for each of them")


def test_a_silence_and_an_acknowledgement_are_shown(warren: Running) -> None:
    silence = ("--for", "1h", "--why", "a test", "--group", "^demo-rewound$")
    warren.command("silence", "add", *silence)
    eventually(
        lambda: warren.command("ack", "demo/demo-stalled").returncode == 0,
        timeout=240,
        message="it has an incident",
    )

    def said() -> tuple[bool, bool]:
        groups = {g["group"]: g for g in warren.get("/api/v1/groups").json()["groups"]}
        silenced = groups.get("demo-rewound", {}).get("silence") is not None
        return silenced, groups.get("demo-stalled", {}).get("acknowledgement") is not None

    eventually(lambda: said() == (True, True), timeout=240, message="both are there")
    shown = warren.command("status", "--group", "demo-(rewound|stalled)").stdout
    assert "silenced" in shown
    assert "acked" in shown


def newest_batch(warren: Running) -> int:
    """Number of the newest commit to the table of events; -1 for none."""
    commits = (warren.state / "lake/bronze/events/_delta_log").glob("*.json")
    return max((int(file.stem) for file in commits if file.stem.isdigit()), default=-1)


def measured_at(warren: Running) -> int:
    return int(newest_freshness(warren)["demo-slow"]["measured_at"])


@pytest.mark.spark
def test_services_killed_twice_are_back_and_go_on(warren: Running) -> None:
    eventually(lambda: newest_batch(warren) > 1, timeout=240, message="the first archived batch")
    for _ in range(2):
        dead = {service: warren.kill(service) for service in ("freshness", "notifier", "archiver")}
        for service, pid in dead.items():
            eventually(
                lambda s=service, p=pid: warren.restarted(s, p),
                timeout=120,
                message=f"{service} runs again",
            )
        measured, batch = measured_at(warren), newest_batch(warren)
        eventually(
            lambda m=measured: measured_at(warren) > m, timeout=120, message="new measurements"
        )
        eventually(lambda b=batch: newest_batch(warren) > b, timeout=240, message="new batches")


@pytest.mark.spark
def test_after_the_kills_everybody_was_told_of_everything(warren: Running) -> None:
    """Once, or again with the same id."""
    changes = [json.loads(record.value() or b"") for record in home_records(warren, INCIDENTS)]
    wanted = {
        change["id"]
        for change in changes
        if change["data"]["status"] in ("WARN", "ERR")
        and change["data"]["status"] != change["data"]["previous"]
    }
    assert wanted

    def untold() -> set[str]:
        audit = [json.loads(r.value() or b"") for r in home_records(warren, NOTIFICATIONS)]
        # Newer news came before it was sent, or the demo has silenced it.
        unneeded = ("suppressed", "superseded", "silenced")
        needless = {entry["event_id"] for entry in audit if entry["outcome"] in unneeded}
        return wanted - needless - {h["event"]["id"] for h in arrived(warren, "webhooks.jsonl")}

    eventually(lambda: not untold(), timeout=120, message="webhooks of all that changed")
    ids = {(h["event"]["id"], h["webhook_id"]) for h in arrived(warren, "webhooks.jsonl")}
    assert len(ids) == len({event for event, _ in ids}) == len({webhook for _, webhook in ids})


@pytest.mark.spark
def test_after_the_kills_tables_equal_their_topics_and_the_report_a_recount(
    warren: Running,
) -> None:
    until = SystemClock().now_ms()

    def read() -> list[LagRecord]:
        """warren.lag, once nothing that was judged before `until` is still to come."""
        records = home_records(warren, "warren.lag")
        newest = {record.key(): record for record in sorted(records, key=Message.offset)}
        living = [record for record in newest.values() if record.value() is not None]
        if any(json.loads(r.value() or b"")["evaluated_at"] < until for r in living):
            return []
        return [LagRecord(r.key() or b"", r.value(), r.timestamp()[1]) for r in records]

    records = eventually(read, timeout=120, message="everybody is judged again")
    # It archives these first.
    reported = warren.command("report", "--last", "3m", "--until", str(until), "--json")
    assert reported.returncode == 0, reported.stderr
    _check_tables(warren)
    report = json.loads(reported.stdout)
    assert report["period"] == {"start_ms": until - 180_000, "end_ms": until}
    expected = recount(records, until - 180_000, until, report["max_gap_ms"])
    reports = {(group["cluster"], group["group"]): group for group in report["groups"]}
    assert reports.keys() == expected.keys()
    for key, counted in expected.items():
        assert {name: reports[key][name] for name in counted} == counted
    assert {("demo", group) for group in IN_TROUBLE} <= expected.keys()


def _check_tables(warren: Running) -> None:
    checked = warren.command("archive", "check", "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    topics = {found["topic"]: found for found in json.loads(checked.stdout)}
    assert {f"warren.{topic.name}" for topic in ARCHIVED} == topics.keys()
    assert not [found for found in topics.values() if found["differences"]]
    for topic in ("warren.offsets", "warren.lag", LAG_STATUS, "warren.freshness", NOTIFICATIONS):
        assert topics[topic]["archived"] > 0
