"""Bodies as a real Burrow 1.9.5 gave them, and lag events that must lead to the same.

Taken from a run beside Warren; `host` stands for the machine's name.
"""

import socket
from typing import Any

from api.served_api import NOW, Api
from warren_core.evaluation import UNKNOWN, Column, Windows
from warren_core.evaluation.packed_windows import pack

Commit = tuple[int, int, int, int | None]
"""Offset, committed at, observed at, lag."""

INTERVALS = 10


def golden(text: str) -> str:
    return text.replace('"host":"host"', f'"host":"{socket.gethostname()}"')


def windows_of(*windows: list[Commit]) -> Windows:
    """Partitions in order, each with its commits, oldest first."""
    made = Windows.empty(len(windows), INTERVALS)
    for row, commits in enumerate(windows):
        made.filled[row] = len(commits)
        for slot, commit in enumerate(commits, INTERVALS - len(commits)):
            values = [UNKNOWN if value is None else value for value in commit]
            made.columns[: Column.ORDER, row, slot] = values
    return made


def put_windows(api: Api, group: str, topics: dict[str, list[list[Commit]]], **fields: Any) -> None:
    """A group with these windows; every log ends 100 records after the newest commit."""
    columns = {topic: _columns(windows) for topic, windows in topics.items()}
    packed = pack(windows_of(*(window for topic in sorted(topics) for window in topics[topic])))
    api.put(group, topics=columns, windows=packed, **fields)


def _columns(windows: list[list[Commit]]) -> dict[str, Any]:
    newest = [window[-1] if window else (None,) * 4 for window in windows]
    oldest = [window[0] if window else (None,) * 4 for window in windows]
    committed = [UNKNOWN if commit[0] is None else commit[0] for commit in newest]
    return {
        "partition": list(range(len(windows))),
        "status": ["OK"] * len(windows),
        "committed": committed,
        "committed_at": [UNKNOWN if commit[1] is None else commit[1] for commit in newest],
        "log_start": [0] * len(windows),
        "log_end": [offset + 100 if offset >= 0 else 7 for offset in committed],
        "lag": [100 if offset >= 0 else None for offset in committed],
        "complete": [len(window) / INTERVALS for window in windows],
        "window_start": _edge(oldest),
        "window_end": _edge(newest),
    }


def _edge(commits: list[Any]) -> dict[str, Any]:
    names = ("offset", "at", "observed_at", "lag")
    return {name: [commit[index] for commit in commits] for index, name in enumerate(names)}


def steady(count: int, offset: int = 35, lag: int | None = 65) -> list[Commit]:
    """Commits 1.5 s apart that move on by five records each."""
    return [
        (
            offset + 5 * n,
            NOW + 1500 * n,
            NOW + 1500 * n + 20,
            None if lag is None else lag - 5 * n,
        )
        for n in range(count)
    ]
