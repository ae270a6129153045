"""Functions that templates of webhooks can call: those of Burrow's, under their names. Pure.

https://github.com/linkedin/Burrow/wiki/Templates. Unlike there times are in UTC, whatever the
machine's zone is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

_COUNTED = {"WARN": "warn", "STOP": "stop", "STALL": "stall", "REWIND": "rewind"}
Partition = Mapping[str, Any]


def topicsbystatus(partitions: Iterable[Partition]) -> dict[str, list[str]]:
    """Status to the topics that have partitions like that, each once."""
    found: dict[str, dict[str, None]] = {}
    for one in partitions:
        found.setdefault(one["Status"], {})[one["Topic"]] = None
    return {status: list(topics) for status, topics in found.items()}


def partitioncounts(partitions: Iterable[Partition]) -> dict[str, int]:
    """How many are `warn`, `stop`, `stall`, `rewind`, and `unknown`: not OK in a way that Burrow
    does not know.
    """
    counts = dict.fromkeys((*_COUNTED.values(), "unknown"), 0)
    for one in partitions:
        if one["Status"] != "OK":
            counts[_COUNTED.get(one["Status"], "unknown")] += 1
    return counts


def maxlag(worst: Partition | None) -> int:
    """The lag of `Result.Maxlag`; 0 where there is none."""
    return 0 if worst is None else worst["CurrentLag"] or 0


def add(a: int, b: int) -> int:
    return _whole(a) + _whole(b)


def minus(a: int, b: int) -> int:
    return _whole(a) - _whole(b)


def multiply(a: int, b: int) -> int:
    return _whole(a) * _whole(b)


def divide(a: int, b: int) -> int:
    """Without the rest: -7 by 2 is -3, as in Go. Raises ZeroDivisionError."""
    quotient = abs(_whole(a)) // abs(_whole(b))
    return quotient if (a < 0) == (b < 0) else -quotient


def formattimestamp(timestamp: int, layout: str) -> str:
    """Unix milliseconds as Go's layout has it (`2006-01-02 15:04:05`)."""
    at = datetime.fromtimestamp(_whole(timestamp) / 1000, UTC)
    return _ELEMENT.sub(lambda found: _element(found[0], at), layout)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "topicsbystatus": topicsbystatus,
    "partitioncounts": partitioncounts,
    "maxlag": maxlag,
    "formattimestamp": formattimestamp,
    "add": add,
    "minus": minus,
    "multiply": multiply,
    "divide": divide,
}
# With what they are about before `|`; of arithmetic Go's order is another one than Jinja's.
FILTERS = ("topicsbystatus", "partitioncounts", "maxlag", "formattimestamp")


def _whole(number: object) -> int:
    """Text times a number would be text, as long as the number says."""
    if not isinstance(number, int):
        raise TypeError(f"{type(number).__name__} is no whole number")
    return number


# https://pkg.go.dev/time#pkg-constants. Of several that fit the longest one is meant.
_ELEMENTS: dict[str, Callable[[datetime], str]] = {
    "January": lambda at: at.strftime("%B"),
    "Jan": lambda at: at.strftime("%b"),
    "Monday": lambda at: at.strftime("%A"),
    "Mon": lambda at: at.strftime("%a"),
    "MST": lambda _: "UTC",
    "2006": lambda at: f"{at.year:04}",
    "06": lambda at: f"{at.year % 100:02}",
    "002": lambda at: at.strftime("%j"),
    "01": lambda at: f"{at.month:02}",
    "02": lambda at: f"{at.day:02}",
    "03": lambda at: f"{_twelve(at):02}",
    "04": lambda at: f"{at.minute:02}",
    "05": lambda at: f"{at.second:02}",
    "15": lambda at: f"{at.hour:02}",
    "_2": lambda at: f"{at.day:2}",
    "1": lambda at: str(at.month),
    "2": lambda at: str(at.day),
    "3": lambda at: str(_twelve(at)),
    "4": lambda at: str(at.minute),
    "5": lambda at: str(at.second),
    "PM": lambda at: "AM" if at.hour < 12 else "PM",
    "pm": lambda at: "am" if at.hour < 12 else "pm",
    "Z07:00": lambda _: "Z",
    "Z0700": lambda _: "Z",
    "-07:00": lambda _: "+00:00",
    "-0700": lambda _: "+0000",
    "-07": lambda _: "+00",
}
_FRACTION = r"[.,](?:0+|9+)(?!\d)"
_ELEMENT = re.compile(
    "|".join([_FRACTION, *map(re.escape, sorted(_ELEMENTS, key=len, reverse=True))])
)


def _element(element: str, at: datetime) -> str:
    if element in _ELEMENTS:
        return _ELEMENTS[element](at)
    digits = f"{at.microsecond:06}000"[: len(element) - 1].ljust(len(element) - 1, "0")
    if element[1] == "9":
        digits = digits.rstrip("0")
    return element[0] + digits if digits else ""


def _twelve(at: datetime) -> int:
    return at.hour % 12 or 12
