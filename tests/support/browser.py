"""A real browser, and the application listening for it."""

import os
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from api.served_api import Api, served
from warren_local.server import free_port

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = ["--disable-quic", "--disable-background-networking", "--disable-component-update"]


def chromium() -> str | None:
    """WARREN_TEST_BROWSER, else the first Chromium on the path."""
    named = os.environ.get("WARREN_TEST_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Site:
    """The application of `api`, listening. Can be stopped and started again."""

    api: Api
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serving(self) -> AbstractContextManager[str]:
        return served(self.api, self.port)
