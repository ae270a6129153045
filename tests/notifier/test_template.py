"""Webhooks that templates write, against a real server."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from notifier.builders import MINUTE, OPENED_AT, bad_partition, delivery, event
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.specimens import BASE, Specimen, of_table, send
from notifier.specimens import channel as channel_of
from warren.contracts import Cause, Finding
from warren.errors import SettingsError
from warren_notifier.channels.channel import Channel, Delivered, Refused
from warren_notifier.state.delivery import Delivery

MIGRATION = Path(__file__).parents[2] / "docs" / "migration-from-burrow.md"
# Burrow's own default-http-post.tmpl says these, with its names, in Go's language.
BURROW = """
{
  "api_key": "{{ Extras.api_key }}", "incident_key": "{{ ID }}", "start": "{{ Start }}",
  "client": "{{ Extras.app }}", "group": "{{ Group }}", "cluster": "{{ Cluster }}",
  "status": "{{ Result.Status }}", "complete": {{ Result.Complete }},
  "lag": {{ Result.TotalLag }}, "count": {{ Result.TotalPartitions }},
  "partitions": {{ jsonencoder(Result.Partitions) }}, "worst": {{ Result.Maxlag | jsonencoder }}
}
"""


def json_body(request: Request) -> Answer:
    return Answer(200 if json.loads(request.body)["group"] else 400)


SPECIMEN = Specimen(
    lambda at: f"""url = "http://{at}/hooks/k3y-17aQ9"\nbody = '{{"group": "{{{{ Group }}}}"}}'""",
    ("17aQ9", "9Qa71"),
    [
        ("{{ Group }}", "{{ Group", "it.body", "line 1"),
        ("type", 'close_url = "x"\ntype', "it.close_url", "http:// or https://"),
        ("type", 'method = "HEAD"\ntype', "it.method", "'POST'"),
    ],
    json_body,
    is_service=False,
)


def channel(url: str, body: str, **fields: Any) -> Channel:
    return channel_of(of_table(f'type = "template"\nurl = "{url}"', body=body, **fields))


def sent(body: str, what: Delivery | None = None, **fields: Any) -> Request:
    with HttpReceiver() as receiver:
        (result,) = send(channel(receiver.url, body, **fields), what or delivery())
    assert result == Delivered("HTTP 200")
    (request,) = receiver.requests
    return request


def over() -> Delivery:
    return delivery(event("OK", "ERR", event_id="e2", at=OPENED_AT + MINUTE), kind="resolved")


def test_burrows_fields_are_there() -> None:
    extras = {"api_key": "k", "app": "Warren"}
    request = sent(BURROW, extras=extras)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == "delivery-1"
    assert json.loads(request.body) == {
        "api_key": "k",
        "incident_key": "incident-1",
        "start": "2026-11-21T07:00:00.123Z",
        "client": "Warren",
        "group": "billing",
        "cluster": "prod",
        "status": "ERR",
        "complete": 1.0,
        "lag": 2140,
        "count": 12,
        "partitions": [
            {
                "topic": "orders",
                "partition": 1,
                "owner": "",
                "client_id": "",
                "status": "STOP",
                "end": {"offset": 1180, "timestamp": OPENED_AT - MINUTE, "lag": 2101},
                "current_lag": 2101,
                "complete": 1.0,
            }
        ],
        "worst": {"topic": "orders", "partition": 1, "current_lag": 2101},
    }


def test_warrens_fields_are_there() -> None:
    body = """{"a": "{{ title }}", "b": "{{ cause }}", "c": "{{ action }}", "d": "{{ link }}",
      "e": {{ event | tojson }}, "f": {{ facts | tojson }}, "g": {{ lateness_ms }},
      "h": "{{ kind }}{{ route }}{{ channel }}{{ delivery_id }}{{ repeat }}{{ left_out }}",
      "i": "{{ short }}", "j": "{{ acknowledge }}"}"""
    cause = Cause(name="no_members", sentence="Nobody is there.", action="Start it.")
    published = event(cause=cause)
    found = json.loads(sent(body, delivery(published)).body)
    assert found["a"].startswith("[ERR] prod: billing ")
    assert found["b"].endswith("Nobody is there.")
    assert found["c"] == "Start it."
    assert found["d"] == f"{BASE}/groups/prod/billing"
    assert found["e"] == json.loads(published.to_bytes())
    assert {"name": "Lag", "value": "2,140 records"} in found["f"]
    assert found["g"] is None
    assert found["h"] == "openedallmaildelivery-100"
    assert found["i"] == "no members"
    assert found["j"] == f"{BASE}/incidents/incident-1"


def test_consequences_are_there() -> None:
    gone = Finding(name="records_lost", sentence="9 records are gone")
    cause = Cause(name="stuck_record", sentence="It stands.", also=[gone])
    found = json.loads(sent("{{ also | tojson }}", delivery(event(cause=cause))).body)
    (only,) = found
    assert (only["name"], only["action"]) == ("records_lost", "")
    assert only["cause"].endswith("9 records are gone")
    assert json.loads(sent("{{ also | tojson }}", delivery(event())).body) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_ends_its_string(name: str) -> None:
    found = json.loads(sent('{"text": "{{ Group }}!"}', delivery(event(group=HOSTILE[name]))).body)
    assert found == {"text": HOSTILE[name] + "!"}


@pytest.mark.parametrize("name", HOSTILE)
def test_nor_its_field_of_a_form(name: str) -> None:
    request = sent(
        "group={{ Group }}&status={{ status }}",
        delivery(event(group=HOSTILE[name])),
        escape="form",
        content_type="application/x-www-form-urlencoded",
    )
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(request.body.decode()) == {"group": [HOSTILE[name]], "status": ["ERR"]}


def test_plain_text_is_as_it_is() -> None:
    request = sent("{{ Group }} is {{ status }}", delivery(event(group="a<b")), escape="none")
    assert request.body == b"a<b is ERR"


def test_the_end_may_be_another_request() -> None:
    with HttpReceiver() as opened, HttpReceiver() as closed:
        hook = channel(
            opened.url,
            "{}",
            method="PUT",
            close_url=closed.url.replace("/hook", "/end"),
            close_method="PATCH",
            close_body='{"over": "{{ Group }}"}',
            headers={"Authorization": "Basic x"},
        )
        send(hook, delivery(), over())
    (first,), (last,) = opened.requests, closed.requests
    assert (first.path, first.body) == ("/hook", b"{}")
    assert (last.path, json.loads(last.body)) == ("/end", {"over": "billing"})
    assert (first.method, last.method) == ("PUT", "PATCH")
    assert last.headers["authorization"] == "Basic x"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{{ Group", "line 1: unexpected end"),
        ('{"a": "{{ Grup }}"}', "'Grup' is undefined"),
        ('{"a": {{ Group }}}', "makes no JSON"),
        ('{"a": "{{ Group.__class__.__mro__ }}"}', "unsafe"),
        ('{"a": "{{ Result.Partitions.append(1) }}"}', "unsafe|not safely callable"),
        ('{"a": {{ 1 / 0 }}}', "ZeroDivisionError"),
        ('{"a": "{{ range(10000000) }}"}', "OverflowError|Range too big"),
        ('{"a": "{{ "x" * 2000000 }}"}', "more than 1048576"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
        ("{{ 'x' * 9223372036854775807 }}", "MemoryError"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_what_cannot_be_used_is_refused_at_the_start(body: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        channel("https://hooks.example.org", body)


def test_what_fails_later_is_refused_then() -> None:
    body = '{"lag": {{ 100 / Result.TotalLag }}}'
    with HttpReceiver() as receiver:
        (result,) = send(channel(receiver.url, body), delivery(event(total_lag=0)))
    assert isinstance(result, Refused)
    assert "ZeroDivisionError" in result.detail
    assert receiver.requests == []


def test_the_example_of_the_migration_does_what_burrows_did() -> None:
    (example,) = (
        found
        for found in re.findall(r"```toml\n(.*?)```", MIGRATION.read_text(), re.DOTALL)
        if 'type = "template"' in found
    )
    named = tomllib.loads(example)["notifier"]["channels"]["desk"]
    with HttpReceiver() as opened, HttpReceiver() as closed:
        urls = {"url": opened.url, "close_url": closed.url}
        send(channel_of(of_table("", **named | urls)), delivery(), over())
    assert json.loads(opened.requests[0].body) == {
        "team": "data",
        "key": "incident-1",
        "text": "billing is ERR, 2101 behind at most",
        "since": "Nov 21 07:00",
        "stopped": 1,
        "topics": ["orders"],
    }
    assert json.loads(closed.requests[0].body)["text"] == "billing is OK again"


def written(template: str, *statuses: str) -> Any:
    bad = [
        bad_partition(n).model_copy(update={"status": status, "topic": f"t{n % 2}"})
        for n, status in enumerate(statuses)
    ]
    return json.loads(sent(template, delivery(event(partitions=bad, max_lag=None))).body)


def test_topics_and_partitions_by_status() -> None:
    statuses = ("STOP", "WARN", "STOP", "STALL", "REWIND", "BEYOND_END", "STOP")
    by_status = written("{{ topicsbystatus(Result.Partitions) }}", *statuses)
    assert by_status == {
        "STOP": ["t0"],
        "WARN": ["t1"],
        "STALL": ["t1"],
        "REWIND": ["t0"],
        "BEYOND_END": ["t1"],
    }
    assert written("{{ Result.Partitions | partitioncounts }}", *statuses) == {
        "warn": 1,
        "stop": 3,
        "stall": 1,
        "rewind": 1,
        "unknown": 1,
    }
    assert written("{{ topicsbystatus(Result.Partitions).items() | list }}") == []
    assert set(written("{{ partitioncounts(Result.Partitions) }}").values()) == {0}
    assert written("{{ maxlag(Result.Maxlag) }}") == 0


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("{{ add(Result.TotalLag, 2) }}", 2142),
        ("{{ minus(1, 3) }}", -2),
        ("{{ multiply(6, 7) }}", 42),
        ("{{ divide(7, 2) }}", 3),
        ("{{ divide(-7, 2) }}", -3),
        ("{{ divide(7, -2) }}", -3),
        ("{{ divide(-7, -2) }}", 3),
    ],
)
def test_arithmetic_is_that_of_whole_numbers(template: str, made: int) -> None:
    assert written(template) == made


@pytest.mark.parametrize("wrong", ['multiply("a", 1000000000)', "divide(1, 0)", "add(1, none)"])
def test_arithmetic_that_is_none_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(SettingsError, match="the template fails"):
        channel("https://example.org", f"{{{{ {wrong} }}}}")


@pytest.mark.parametrize(
    ("layout", "made"),
    [
        ("2006-01-02 15:04:05", "2026-11-21 07:00:00"),
        ("2006-01-02T15:04:05.000Z07:00", "2026-11-21T07:00:00.123Z"),
        ("2006-01-02T15:04:05.999999999Z07:00", "2026-11-21T07:00:00.123Z"),
        ("Mon, 02 Jan 2006 15:04:05 MST", "Sat, 21 Nov 2026 07:00:00 UTC"),
        ("Monday, January _2 3:04:05PM", "Saturday, November 21 7:00:00AM"),
        ("03:04 pm -0700", "07:00 am +0000"),
        ("1/2/06, 15h", "11/21/26, 07h"),
        ("day 002", "day 325"),
        ("", ""),
    ],
)
def test_times_by_layouts_of_go(layout: str, made: str) -> None:
    body = '{"a": "{{ formattimestamp(event.data.opened_at, Extras.layout) }}"}'
    request = sent(body, extras={"layout": layout})
    assert json.loads(request.body) == {"a": made}
