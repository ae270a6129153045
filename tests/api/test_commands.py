"""Commands to copy have the address of the group's cluster."""

import pytest
from api.served_api import NOW, Api
from warren.contracts import Cause
from warren_api.pages.sentences import commands, without_commands

DROP = 'kafka-consumer-groups --bootstrap-server "$BOOTSTRAP" --delete-offsets --group g'
CAUSE = {
    "name": "unsubscribed",
    "sentence": "no member subscribes to orders any more",
    "action": f"drop the committed offsets: {DROP}; or let Warren forget them: DELETE /v3/x",
}


def test_the_clusters_address_stands_in_them() -> None:
    drop, describe = commands("a b", Cause.model_validate(CAUSE), ["k-1:9092", "k-2:9092"])
    assert drop == (
        "kafka-consumer-groups --bootstrap-server k-1:9092,k-2:9092 --delete-offsets --group g"
    )
    assert describe.endswith("--bootstrap-server k-1:9092,k-2:9092 --describe --group 'a b'")


def test_of_a_cluster_that_is_not_configured_here_the_reader_knows_it() -> None:
    (describe,) = commands("g", None, [])
    assert '--bootstrap-server "$BOOTSTRAP"' in describe


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (CAUSE["action"], "drop the committed offsets; or let Warren forget them: DELETE /v3/x"),
        ("look at it: kafka-console-consumer --topic t", "look at it"),
        ("start its consumers", "start its consumers"),
    ],
)
def test_words_and_commands_stand_apart(action: str, words: str) -> None:
    assert without_commands(action) == words


def test_the_api_has_them_of_a_group_and_of_its_incident_alike(api: Api) -> None:
    api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW}, cause=CAUSE)
    of_group = api.get("/api/v1/groups/demo/billing").json()["cause"]["action"]
    assert "--bootstrap-server broker:9092" in of_group
    assert api.get("/api/v1/incidents/i-1").json()["now"]["action"] == of_group
