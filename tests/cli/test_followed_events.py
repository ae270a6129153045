"""`warren events --follow`: what happens is written once, whenever it happens."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from api.served_api import Api, served
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import SystemClock
from warren_api.model.cluster import FeedState

pytestmark = pytest.mark.usefixtures("alone")
STREAM = "/api/v1/events"


class Meddled:
    """ASGI: calls `before` ahead of each stream, by its number, and cuts the first ones off after
    so many pieces.
    """

    def __init__(self, app: ASGIApp, before: Callable[[int], None], cut: dict[int, int]) -> None:
        self._app, self._before, self._cut = app, before, cut
        self._streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != STREAM:
            await self._app(scope, receive, send)
            return
        number, self._streams = self._streams, self._streams + 1
        self._before(number)
        left = self._cut.get(number)

        async def cutting(message: Message) -> None:
            nonlocal left
            await send(message)
            if left is not None and message["type"] == "http.response.body":
                left -= 1
                if not left:
                    raise ConnectionAbortedError

        await self._app(scope, receive, cutting)


@pytest.fixture
def api() -> Api:
    made = Api(clock=SystemClock())  # type: ignore[arg-type]  # as the command's
    for name in ("billing", "mailer"):
        made.put(name, evaluated_at=SystemClock().now_ms())
    made.change("billing", "ERR", SystemClock().now_ms() - 120_000)
    return made


def something(api: Api, group: str, status: str = "ERR") -> None:
    api.change(group, status, SystemClock().now_ms())


@contextmanager
def followed(
    api: Api,
    before: Callable[[int], None] = lambda _: None,
    cut: dict[int, int] | None = None,
    complaints: list[str] | None = None,
) -> Iterator[Callable[[], str]]:
    """Reads the next line that the command writes; at the end `complaints` has what it said."""
    complaints = [] if complaints is None else complaints
    api.app = Meddled(api.app, before, cut or {})  # type: ignore[assignment]
    with served(api) as address:
        command = [sys.executable, "-m", "warren_cli.main", "events", "-f", "--api", address]
        follower = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert follower.stdout is not None
            yield follower.stdout.readline
            follower.send_signal(signal.SIGINT)
            _, said = follower.communicate(timeout=60)
            complaints += said.splitlines()
            assert follower.returncode == 0
        finally:
            follower.kill()
            follower.communicate()


def test_what_came_between_list_and_stream_is_not_lost(api: Api) -> None:
    with followed(api, lambda _: something(api, "mailer")) as line:
        assert "demo/billing OK -> ERR" in line()
        assert "demo/mailer OK -> ERR" in line()


def test_what_came_while_the_api_was_away_is_not_lost(api: Api) -> None:
    """The first stream says where it stands and ends before anything happens; then something
    does. The list is of no help: it is made once, after the first stream's beginning.
    """

    def before(number: int) -> None:
        if number == 1:
            something(api, "mailer")

    with followed(api, before, cut={0: 1}) as line:
        assert "demo/billing OK -> ERR" in line()
        assert "demo/mailer OK -> ERR" in line()
        something(api, "billing", "OK")
        assert "demo/billing OK -> OK" in line()


def test_why_the_api_does_not_serve_is_said_once(api: Api) -> None:
    """While it starts, which may take long, each stream is answered with a problem."""
    said: list[str] = []

    def before(number: int) -> None:
        api.feed = FeedState(ready=number > 2, problem=None)
        if number == 3:
            something(api, "mailer")

    with followed(api, before, complaints=said) as line:
        assert "demo/billing OK -> ERR" in line()
        assert "demo/mailer OK -> ERR" in line()
    (told,) = said
    assert told.endswith(
        "answers: Warren is still reading what it knew before it was started; asking again"
    )
