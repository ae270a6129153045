"""What `deploy/docker/Dockerfile` puts into a service's image, as its lock resolves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ONLY_WHEN_INSTALLED = {"--no-editable", "--no-cache"}


def packages(service: str) -> set[str]:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    found = re.search(r"^RUN uv sync (.+)$", dockerfile, re.MULTILINE)
    assert found is not None
    asked = found[1].replace('"', "").replace("${SERVICE}", service).split()
    options = [option for option in asked if option not in ONLY_WHEN_INSTALLED]
    run = [sys.executable, "-m", "uv", "export", "--offline", "--no-hashes", *options]
    lines = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.partition("==")[0] for line in lines.splitlines()}


def test_the_notifier_has_the_library_of_its_apprise_channels() -> None:
    assert "apprise" in packages("notifier")


@pytest.mark.parametrize("service", ["collector", "evaluator", "api"])
def test_the_others_have_nothing_of_it(service: str) -> None:
    assert "apprise" not in packages(service)
