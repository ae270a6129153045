"""What librdkafka says of a property that it refuses, in our words and with the property's name."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NamedTuple

from warren.logins import LOGIN_PROPERTIES

_UNKNOWN = re.compile(r'No such configuration property: "(?P<name>[^"]+)"')
_VALUE = re.compile(
    r'Invalid value (?P<value>".*" )?for configuration property "(?P<name>[^"]+)"', re.S
)
_RANGE = re.compile(
    r'Configuration property "(?P<name>[^"]+)" value .* is outside allowed range (?P<range>\S+)'
)
_FILE = re.compile(r"(?P<name>[a-z]+(?:\.[a-z]+)+) failed: (?P<problem>.*)", re.S)
_CLIENT = re.compile(r"Failed to create [a-z ]*client: ")


class Refused(NamedTuple):
    """`name`: the property; empty where librdkafka names none."""

    name: str
    problem: str


def refused_property(text: str) -> Refused:
    """What `text`, of an exception of confluent-kafka, says."""
    text = _CLIENT.sub("", text).strip()
    if found := _UNKNOWN.match(text):
        near = get_close_matches(found["name"], LOGIN_PROPERTIES, n=1, cutoff=0.8)
        meant = f"; did you mean {near[0]}?" if near else ""
        return Refused(found["name"], f"librdkafka has no such property{meant}")
    if found := _VALUE.match(text):
        value = (found["value"] or "this value").strip()
        return Refused(found["name"], f"librdkafka does not take {value}")
    if found := _RANGE.match(text):
        return Refused(found["name"], f"must be within {found['range']}")
    if found := _FILE.match(text):
        return Refused(found["name"], f"cannot be used: {found['problem']}")
    return Refused("", text)
