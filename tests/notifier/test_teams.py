"""Teams against a receiver that checks what Microsoft's documentation demands."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.specimens import BASE, Specimen, made, send
from notifier.test_alertmanager import breach
from warren.contracts import Cause
from warren_notifier.channels.channel import Delivered, Refused, Retry
from warren_notifier.state.telling import Delivery

# https://adaptivecards.io/explorer: what our cards are made of, with what each must and may have.
ELEMENTS = {
    "Container": ({"items"}, {"style", "bleed"}),
    "RichTextBlock": ({"inlines"}, {"spacing"}),
    "TextRun": ({"text"}, {"weight", "size", "isSubtle", "selectAction"}),
    "Action.OpenUrl": ({"url"}, {"title"}),
}

CARD = {"$schema", "type", "version", "fallbackText", "msteams", "body", "actions"}
VALUES = {
    "style": ("default", "emphasis", "good", "attention", "warning", "accent"),
    "spacing": ("default", "None", "Small", "Medium", "Large", "ExtraLarge", "Padding"),
    "size": ("Default", "Small", "Medium", "Large", "ExtraLarge"),
    "weight": ("Default", "Lighter", "Bolder"),
}


def workflow(request: Request) -> Answer:
    if request.headers["content-type"] != "application/json; charset=utf-8":
        return Answer(400, body=b"charset")
    if len(request.body) > 28 * 1000:
        return Answer(413, body=b"RequestEntityTooLarge")
    message = json.loads(request.body)
    (attachment,) = message["attachments"]
    card = attachment["content"]
    right = (
        message.keys() == {"type", "attachments"}
        and message["type"] == "message"
        and attachment.keys() == {"contentType", "contentUrl", "content"}
        and attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
        and (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    )
    wrong = [] if right else ["envelope"]
    wrong += [f"card {name}" for name in card.keys() - CARD]
    if len(card["actions"]) > 6:
        wrong.append("more than six actions")
    for element in (*card["body"], *card["actions"]):
        wrong += _violations(element)
    return Answer(400, body=repr(wrong).encode()) if wrong else Answer(202)


def _violations(element: dict[str, Any]) -> Iterator[str]:
    required, optional = ELEMENTS[element["type"]]
    fields = element.keys() - {"type"}
    if not required <= fields or fields - required - optional:
        yield f"{element['type']} {sorted(fields)}"
    for name, allowed in VALUES.items():
        if element.get(name, allowed[0]) not in allowed:
            yield f"{name} {element[name]}"
    if element["type"] == "TextRun" and not element["text"]:
        yield "a text run is empty"
    if element["type"] == "Action.OpenUrl" and not element["url"].startswith("http"):
        yield f"url {element['url']}"
    actions = [element["selectAction"]] if "selectAction" in element else []
    for inner in (*element.get("items", ()), *element.get("inlines", ()), *actions):
        yield from _violations(inner)


SPECIMEN = Specimen(
    lambda at: f'url = "http://{at}/hooks/k3y-17aQ9"', ("17aQ9", "9Qa71"), [], workflow
)


def posted(what: Delivery) -> dict[str, Any]:
    with HttpReceiver(decide=workflow) as receiver:
        assert send(made("teams", f"127.0.0.1:{receiver.port}"), what) == [Delivered("HTTP 202")]
    card: dict[str, Any] = json.loads(receiver.requests[0].body)["attachments"][0]["content"]
    return card


def shown(card: dict[str, Any]) -> str:
    blocks = [*card["body"][0]["items"], *card["body"][1:]]
    return "\n".join("".join(run["text"] for run in block["inlines"]) for block in blocks)


def test_a_card_says_what_is_wrong_and_what_to_do() -> None:
    cause = Cause(name="no_members", sentence="Nobody is in the group.", action="Start it.")
    late = breach("max_freshness", 90_000, owner="payments", runbook="https://run.example/book")
    card = posted(delivery(event(cause=cause, objectives=[late], late_ms=90_000)))
    text = shown(card)
    assert text.startswith("[ERR] prod: billing no members, late; as of 07:00 UTC\n")
    for line in (
        "Cause: at 07:00 UTC: Nobody is in the group.",
        "Owner: payments",
        "Late by: 1m 30s",
    ):
        assert line in text
    assert card["body"][0]["style"] == "attention"
    assert [action["url"] for action in card["actions"]] == [
        f"{BASE}/incidents/incident-1",
        f"{BASE}/groups/prod/billing",
        "https://run.example/book",
    ]


def test_the_end_is_good() -> None:
    over = event("OK", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)
    card = posted(delivery(over, kind="resolved"))
    assert card["body"][0]["style"] == "good"
    assert "is OK again." in shown(card)


@pytest.mark.parametrize("runbook", ["javascript:alert(1)", "ask Ann", "https://a b", "http://["])
def test_a_runbook_that_is_no_link_is_text(runbook: str) -> None:
    card = posted(delivery(event(objectives=[breach("max_lag", 1, runbook=runbook)])))
    assert len(card["actions"]) == 2
    assert f"What to do: {runbook}" in shown(card)


FAILED = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"{FAILED} 429 with ContextId tcid=0", Retry),
        (f"{FAILED} 503 with ContextId tcid=0", Retry),
        (f"{FAILED} 413 with ContextId tcid=0", Refused),
        ("Webhook message delivery failed with error: something else", Retry),
    ],
)
def test_teams_old_connector_says_yes_when_it_means_no(
    said: str, expected: type[Retry | Refused]
) -> None:
    with HttpReceiver(Answer(200, body=said.encode())) as receiver:
        (result,) = send(made("teams", f"127.0.0.1:{receiver.port}"), delivery())
    assert result == expected(f"HTTP 200: {said}")
