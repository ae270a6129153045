from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_java import fake_java
from warren_local.errors import JavaMissing
from warren_local.java import find_java, major_version


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up _JAVA_OPTIONS: -Xmx1g\nopenjdk version "17.0.1" 2021-10-19', 17),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_the_version_is_read_from_what_java_prints(text: str, major: int | None) -> None:
    assert major_version(text) == major


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home")
    other = fake_java(tmp_path / "other")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert found == home / "bin" / "java"
    assert find_java({"PATH": str(other / "bin")}) == other / "bin" / "java"


def test_no_java_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(JavaMissing, match=r"Java 17 or newer is needed .*install it"):
        find_java({"PATH": str(tmp_path)})
    with pytest.raises(JavaMissing, match="does not run"):
        find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""})


def test_an_old_java_is_refused(tmp_path: Path) -> None:
    home = fake_java(tmp_path, version='openjdk version "11.0.2" 2019-01-15')
    with pytest.raises(JavaMissing, match="is version 11"):
        find_java({"JAVA_HOME": str(home)})
