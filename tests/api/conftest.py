"""The served application that most tests here ask."""

from __future__ import annotations

import pytest
from api.served_api import Api


@pytest.fixture
def api() -> Api:
    return Api()
