from __future__ import annotations

from pathlib import Path

import pytest
from warren_local.errors import JarMismatch, JarsUnavailable
from warren_local.jar_lock import packaged_lock, parse, render, verify


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    for name in ("b-1.jar", "a-2.jar"):
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def test_the_packaged_lock_pins_the_broker_and_its_logs() -> None:
    lock = packaged_lock()
    assert len(lock) == 46
    assert {"kafka_2.13-4.3.0.jar", "log4j-slf4j-impl-2.25.4.jar"} <= lock.keys()


def test_a_written_lock_verifies_what_it_was_written_from(jars: Path) -> None:
    text = render(jars)
    assert [line.split("  ")[1] for line in text.splitlines()] == ["a-2.jar", "b-1.jar"]
    verify(jars, parse(text))


def test_a_tampered_jar_is_refused_with_both_hashes(jars: Path) -> None:
    lock = parse(render(jars))
    (jars / "a-2.jar").write_bytes(b"something else")
    with pytest.raises(JarMismatch) as refused:
        verify(jars, lock)
    assert refused.value.file == jars / "a-2.jar"
    assert refused.value.expected == lock["a-2.jar"]
    assert refused.value.found != lock["a-2.jar"]
    assert refused.value.expected in str(refused.value)
    assert refused.value.found in str(refused.value)


def test_a_jar_that_the_lock_does_not_know_is_refused(jars: Path) -> None:
    lock = parse(render(jars))
    (jars / "extra-1.jar").write_bytes(b"")
    with pytest.raises(JarMismatch, match=r"extra-1\.jar"):
        verify(jars, lock)


def test_a_missing_jar_is_named(jars: Path) -> None:
    lock = parse(render(jars))
    (jars / "b-1.jar").unlink()
    with pytest.raises(JarsUnavailable, match=r"1 of 2 jars are missing, first b-1\.jar"):
        verify(jars, lock)


@pytest.mark.parametrize(
    "line", ["abc  a.jar", f"{'0' * 64} a.jar", f"{'0' * 64}  ../a.jar", f"{'0' * 64}  a.zip", ""]
)
def test_a_malformed_lock_names_the_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse(f"{'0' * 64}  good.jar\n{line}\n")
