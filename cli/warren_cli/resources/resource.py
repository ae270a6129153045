"""One kind of thing that the API lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Column(NamedTuple):
    """`cell`: a row and now (Unix milliseconds) to text; None where nobody knows. `wide`: only with
    `-o wide`. Where a terminal is narrow, `name`s are cut, what is `kept` is not, and others are
    left out.
    """

    title: str
    cell: Callable[[Row, int], str | None]
    right: bool = False
    wide: bool = False
    name: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """`name`: of the path `/api/v1/NAME` and of the list in its body, plural."""

    name: str
    columns: tuple[Column, ...]
    identity: Callable[[Row], str]
    """What `-o name` prints, one line; `warren describe` takes it."""
