"""Services with a step that never ends: not ready, said why, ended with 1."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support import hanging_service
from support.waiting import eventually
from warren_local.ports import free_port

pytestmark = pytest.mark.heavy

WORKS = {
    "collector": "cluster demo",
    "freshness": "pass over demo",
    "notifier": "session",
    "api": "feed",
}


@pytest.mark.parametrize("service", WORKS)
def test_a_service_that_hangs_says_so_and_ends(
    service: str, broker: Any, unique: str, tmp_path: Path
) -> None:
    port, log = free_port(), tmp_path / "log"
    config = tmp_path / "warren.toml"
    config.write_text(_config(service, broker.bootstrap, unique, port))
    command = [sys.executable, hanging_service.__file__, service, "--config", str(config)]
    with log.open("wb") as output, subprocess.Popen(command, stderr=output) as process:
        try:
            path = "burrow/admin/ready" if service == "api" else "ready"
            reason = eventually(
                lambda: _stands_still(_reason(process, f"http://127.0.0.1:{port}/{path}")),
                message="it says so",
            )
            assert reason.startswith(f"{WORKS[service]}: nothing done for")
            assert process.wait(60) == 1
        finally:
            process.kill()
    text = log.read_text()
    assert text.count("standing still, not ready") == 1
    assert text.count("standing still for too long, ending") == 1


def _config(service: str, bootstrap: str, name: str, port: int) -> str:
    tables: dict[str, dict[str, object]] = {
        "home": {"bootstrap": bootstrap, "topic_prefix": f"{name}.", "partitions": 2},
        "clusters.demo": {"bootstrap": bootstrap},
        "collector": {"group_id": f"{name}-collector"},
        "freshness": {"group_id": f"{name}-freshness"},
        "notifier": {"group_id": f"{name}-notifier"},
        "api": {},
        "standstill": {"not_ready_after": 4, "exit_after": 9},
    }
    tables[service]["port" if service == "api" else "metrics_port"] = port
    return "".join(
        f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for table, values in tables.items()
    )


def _reason(process: subprocess.Popen[bytes], address: str) -> str:
    """Why it is not ready, other than that it is starting."""
    assert process.poll() is None
    try:
        with urllib.request.urlopen(address, timeout=5):
            return ""
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        return "" if text == "STARTING" else text
    except OSError:
        return ""


def _stands_still(reason: str) -> str:
    """The reason, unless it is that of a service that is starting."""
    return reason if "nothing done for" in reason else ""
