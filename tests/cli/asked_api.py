"""The `warren` command run against an API that is there, and what may answer in its place."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typer.testing import CliRunner, Result
from warren_cli.main import app


def group_row(
    name: str, status: str | None = "OK", cluster: str = "demo", **fields: Any
) -> dict[str, Any]:
    """As `GET /api/v1/groups` has it."""
    return {
        "cluster": cluster,
        "group": name,
        "status": status,
        "severity": status,
        "since": None,
        "total_lag": 12,
        "total_lag_at_least": None,
        "worst": {"topic": "orders", "partition": 1, "status": "STOP", "lag": 12},
        "incident": None,
        "cause": None,
        "broken_objectives": [],
        "partition_counts": {"OK": 1},
        "words": None
        if status is None
        else {"short": "", "why": "", "late": "", "loss": "", "lag": "12"},
        **fields,
    }


def run(*arguments: str) -> Result:
    """Raises what the command raises."""
    result = CliRunner().invoke(app, arguments, terminal_width=200)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


class ServedGroups(ThreadingHTTPServer):
    """In an API's place: answers with `code` and `body`, whatever it is asked for. `pages`: other
    bodies by query; `everywhere`: one for all paths.
    """

    def __init__(self, body: object) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.body = body
        self.pages: dict[str, object] = {}
        self.code = 200
        self.everywhere: bytes | None = None
        self.queries: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def asked(self) -> int:
        return len(self.queries)

    def asked_again(self) -> Callable[[], bool]:
        seen = self.asked
        return lambda: self.asked >= seen + 2


class _Answer(BaseHTTPRequestHandler):
    server: ServedGroups

    def do_GET(self) -> None:
        path, _, asked = self.path.partition("?")
        # How many rows come at once is nothing that a list is asked for.
        query = "&".join(part for part in asked.split("&") if not part.startswith("limit="))
        code, body = self.server.code, self.server.pages.get(query, self.server.body)
        if self.server.everywhere is not None:
            body = self.server.everywhere
        elif path == "/api/v1/clusters":
            body = {"clusters": [{"cluster": "demo"}, {"cluster": "eu"}]}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.server.queries.append(query)  # before: who has read the answer looks at once
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        pass


@contextmanager
def serving(body: object) -> Iterator[ServedGroups]:
    with ServedGroups(body) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
