"""Commands of Kafka's own tools to copy, with the address of the group's cluster. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warren.bootstrap import VARIABLE
from warren.contracts import Cause
from warren.words import shell_word

_TOOL = re.compile(r"kafka-[a-z-]+ [^;]*")
_SAID = re.compile(rf":?\s*{_TOOL.pattern}")


def commands(group: str, cause: Cause | None, servers: Sequence[str]) -> list[str]:
    """What the cause says to run, then what describes the group. `servers`: of its cluster; none
    where they are not configured here.
    """
    actions = (each.action or "" for each in (cause.findings if cause else ()))
    said = (command for action in actions for command in _TOOL.findall(action))
    describe = f"kafka-consumer-groups --bootstrap-server {VARIABLE} --describe --group"
    found = [*(each.strip() for each in said), f"{describe} {shell_word(group)}"]
    address = shell_word(",".join(servers)) if servers else VARIABLE
    return [each.replace(VARIABLE, address) for each in found]


def without_commands(action: str) -> str:
    """What to do, where the command stands beside it."""
    return _SAID.sub("", action).strip()
