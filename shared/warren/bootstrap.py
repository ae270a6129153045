"""The address of a cluster in commands of Kafka's own tools. Pure."""

import re
from typing import Any

from warren.contracts import Cause, Finding
from warren.words import shell_word, visible

VARIABLE = '"$BOOTSTRAP"'
"""What stands in commands of causes: who judges a group does not know its cluster's address."""

COMMAND = re.compile(
    r"""(?<![\w-])kafka-[a-z-]+ (?:\$'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|[^;('"\s]|\s(?!\())*"""
)
"""One of Kafka's tools in what to do, whatever is quoted in it: ends at `;` or `(`."""


def runnable(action: str, servers: str, cluster: str) -> str:
    """What to do, with the cluster's bootstrap `servers` in its commands; where they are not known,
    it says what the reader has to put there.
    """
    if VARIABLE not in action:
        return action
    if servers:
        return action.replace(VARIABLE, shell_word(servers.replace(" ", "")))
    return f"{action} ($BOOTSTRAP: the bootstrap servers of {visible(cluster)})"


def addressed(cause: Cause, servers: str, cluster: str) -> Cause:
    """A cause whose commands are `runnable`."""

    def said(finding: Finding) -> dict[str, Any]:
        return {"action": finding.action and runnable(finding.action, servers, cluster)}

    also = [each.model_copy(update=said(each)) for each in cause.also]
    return cause.model_copy(update={**said(cause), "also": also})
