"""The process around the Faust application: signals, logs and exit codes are Warren's."""

import asyncio
import threading
from functools import partial

import faust
from warren.service import stop_by_signal


class Worker(faust.Worker):
    """Stops gracefully on SIGTERM and SIGINT; exits 0 then, 1 after a crash."""

    def __init__(
        self, app: faust.App, loop: asyncio.AbstractEventLoop, told_to_stop: threading.Event
    ) -> None:
        """`told_to_stop` is set when a signal came before the worker listened to them."""
        super().__init__(app, loop=loop, quiet=True, override_logging=False)
        self.spinner = None
        self._told_to_stop = told_to_stop

    def _install_signal_handlers_unix(self) -> None:
        # Not Faust's for SIGUSR1 and SIGUSR2: the latter would stop the worker in a debugger.
        stop_by_signal(partial(self.loop.call_soon_threadsafe, self._on_sigterm))
        if self._told_to_stop.is_set():
            self._on_sigterm()
