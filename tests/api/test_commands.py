"""Commands to copy have the address of the group's cluster."""

import pytest
from warren_api.pages.sentences import without_commands

DROP = 'kafka-consumer-groups --bootstrap-server "$BOOTSTRAP" --delete-offsets --group g'
CAUSE = {
    "name": "unsubscribed",
    "sentence": "no member subscribes to orders any more",
    "action": f"drop the committed offsets: {DROP}; or let Warren forget them: DELETE /v3/x",
}


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
