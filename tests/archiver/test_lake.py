"""Where a lake is."""

from __future__ import annotations

from pathlib import Path

import pytest
from warren_archiver.lake.lake import Lake


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/data/lake", "file:/data/lake"),
        ("file:/data/lake", "file:/data/lake"),
        ("file:///data/lake", "file:/data/lake"),
        ("lake", f"file:{Path.cwd()}/lake"),
        ("a:b/lake", f"file:{Path.cwd()}/a:b/lake"),
        ("s3a://bucket/lake", "s3a://bucket/lake"),
    ],
)
def test_a_path_says_where(path: str, root: str) -> None:
    assert Lake.at(path).root == root
