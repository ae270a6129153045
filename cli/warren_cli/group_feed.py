"""The API's groups, asked for again and again by a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx

from warren_cli.api_client import Ask, http_client, pages

INTERVAL = 1.0  # seconds between two requests
TIMEOUT = 5.0


class Groups(NamedTuple):
    """One answer of `GET /api/v1/groups`."""

    groups: list[dict[str, Any]]
    doubts: list[str]


LARGEST_PAGE = 1000  # rows, as many as the API gives at once


def all_pages(ask: Ask) -> Groups:
    """The whole list. Raises as `pages` does, and KeyError or TypeError when a body is no list of
    groups.
    """
    first, *rest = pages(lambda page: ask({"limit": str(LARGEST_PAGE)} | page))
    groups = [group for body in (first, *rest) for group in body["groups"]]
    for group in groups:
        group["cluster"], group["group"], group["status"]  # what every group has
    return Groups(groups, first["doubts"])


class GroupFeed:
    """Calls `on_answer` for each answer and `on_silence` for each request without one."""

    def __init__(
        self,
        url: str,
        *,
        on_answer: Callable[[Groups], None],
        on_silence: Callable[[], None],
        interval: float = INTERVAL,
    ) -> None:
        self._url = f"{url}/api/v1/groups"
        self._on_answer = on_answer
        self._on_silence = on_silence
        self._interval = interval
        self._client = http_client(TIMEOUT)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="group-feed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No call comes any more once this returns."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with self._client as client:
            while not self._stop.is_set():
                answer = fetch(client, self._url)
                if answer is None:
                    self._on_silence()
                else:
                    self._on_answer(answer)
                self._stop.wait(self._interval)


def fetch(client: httpx.Client, url: str) -> Groups | None:
    """None when the API does not answer, or is not ready."""

    def ask(parameters: dict[str, str]) -> Any:
        response = client.get(url, params=parameters)
        response.raise_for_status()
        return response.json()

    try:
        return all_pages(ask)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
