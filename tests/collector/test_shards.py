from __future__ import annotations

import pytest
from warren_collector.sources.shards import java_hash, offsets_partition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("warren", -795007821),
        ("polygenelubricants", -(2**31)),
        ("grüße 🐇", 347378579),
    ],
)
def test_strings_hash_as_in_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_partitions_are_those_of_the_coordinator() -> None:
    assert offsets_partition("polygenelubricants", 50) == 0
    assert offsets_partition("warren", 50) == 21
