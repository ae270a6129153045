"""What commands that ask the API are tested beside."""

from collections.abc import Iterator

import pytest
from api.served_api import Api, served
from structlog.testing import capture_logs


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Without a token of the environment, and what the API logs is not what the command says."""
    monkeypatch.delenv("WARREN_TOKEN", raising=False)
    with capture_logs():
        yield


@pytest.fixture
def address(api: Api) -> Iterator[str]:
    """Where the `api` of the test's own file is served."""
    with served(api) as url:
        yield url
