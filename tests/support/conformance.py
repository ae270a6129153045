"""Conformance cases: taken from the systems that Warren succeeds, kept outside the repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[3] / "shared" / "conformance"


def conformance_cases(name: str) -> Any:
    """The cases of a file such as `burrow/evaluator_cases.json`.

    A checkout without them skips the module, except where CI=true: there it is an error.
    """
    file = CASES / name
    if not file.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"no conformance cases at {file}", allow_module_level=True)
    return json.loads(file.read_text())
