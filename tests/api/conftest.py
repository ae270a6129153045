"""The served application that most tests here ask, and the service as a process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from api.api_process import Service, Start
from api.served_api import Api
from warren.settings import HomeSettings


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Service] = []

    def start_service(home: HomeSettings, **variables: str) -> Service:
        log = tmp_path / f"api-{len(started)}.log"
        environ = {
            **os.environ,
            "WARREN_HOME__BOOTSTRAP": home.bootstrap,
            "WARREN_HOME__TOPIC_PREFIX": home.topic_prefix,
            "WARREN_HOME__PARTITIONS": str(home.partitions),
            "WARREN_HOME__CREATE_TOPICS": str(home.create_topics).lower(),
            "WARREN_API__PORT": "0",
            **variables,
        }
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "warren_api"], env=environ, stderr=output, cwd=tmp_path
            )
        started.append(Service(process, log))
        return started[-1]

    yield start_service
    for service in started:
        service.process.kill()
        service.process.wait()
