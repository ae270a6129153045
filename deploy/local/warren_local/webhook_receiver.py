"""An embedded webhook receiver for the demo: verifies signatures and keeps what came.

`python -m warren_local.webhook_receiver --port 8025 --secret whsec_… --out webhooks.jsonl`
"""

import argparse
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError
from warren.clock import Clock, SystemClock

from warren_local.arrivals import Arrivals, serve, taken
from warren_local.server import HOST, Server

LARGEST_BODY = 8 * 2**20


class WebhookReceiver(Server):
    """The server, in threads of its own: 204 for what is signed with `secret`, 401 for the rest."""

    def __init__(
        self,
        port: int,
        secret: str,
        arrivals: Arrivals,
        *,
        host: str = HOST,
        clock: Clock | None = None,
    ) -> None:
        self.port = port
        self.arrivals = arrivals
        self._host = host
        self._verifier = Webhook(secret)
        self._clock = clock or SystemClock()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Raises StartRefused when it cannot listen."""
        receive = self._receive

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # http.server's name
                size = min(int(self.headers.get("Content-Length") or 0), LARGEST_BODY)
                self.send_response(receive(self.rfile.read(size), dict(self.headers.items())))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """What arrives is told by `arrivals`."""

        try:
            self._server = ThreadingHTTPServer((self._host, self.port), Handler)
        except OSError as error:
            raise taken("webhook receiver", self._host, self.port, error) from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops it; no harm when it does not run."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def _receive(self, body: bytes, headers: dict[str, str]) -> int:
        """Notes a request; the HTTP status that answers it."""
        names = {name.lower(): value for name, value in headers.items()}
        problem = self._problem(body, headers)
        self.arrivals.note(
            {
                "at": self._clock.now_ms(),
                "webhook_id": names.get("webhook-id", ""),
                "webhook_timestamp": names.get("webhook-timestamp", ""),
                "content_type": names.get("content-type", ""),
                "verified": not problem,
                "problem": problem,
                "event": _json(body),
            }
        )
        return 401 if problem else 204

    def _problem(self, body: bytes, headers: dict[str, str]) -> str:
        """Why the signature does not hold; empty when it does."""
        try:
            self._verifier.verify(body, headers, json_parse=False)
        except (WebhookVerificationError, ValueError) as error:
            return str(error)
        return ""


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m warren_local.webhook_receiver", description=__doc__
    )
    parser.add_argument("--secret", required=True, help="the channel's signing secret")
    serve(
        parser,
        8025,
        lambda given, arrivals: WebhookReceiver(
            given.port, given.secret, arrivals, host=given.host
        ),
    )


if __name__ == "__main__":
    main()
