"""Brokers start from the classes that one of them has written, where there are such."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from warren_local.class_archive import ensure_class_archive
from warren_local.kafka import EmbeddedKafka, class_archive
from warren_local.kafka_properties import KafkaOptions


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    (directory := tmp_path / "jars").mkdir()
    return directory


def _command(jars: Path, written: Path | None = None) -> list[str]:
    options = KafkaOptions(port=1, controller_port=2, data_dir=jars.parent / "data")
    log = jars.parent / "kafka.log"
    java = Path("java")
    return EmbeddedKafka(options, java=java, jars=jars, log=log, written_classes=written).command()


def test_without_an_archive_classes_are_read_from_the_jars(jars: Path) -> None:
    assert ".jsa" not in " ".join(_command(jars))


def test_an_archive_beside_the_jars_is_read(jars: Path) -> None:
    (archive := class_archive(jars)).touch()
    assert f"-XX:SharedArchiveFile={archive}" in _command(jars)


def test_a_broker_that_writes_one_reads_none(jars: Path) -> None:
    class_archive(jars).touch()
    command = _command(jars, jars.parent / "new.jsa")
    assert f"-XX:ArchiveClassesAtExit={jars.parent / 'new.jsa'}" in command
    assert not [flag for flag in command if flag.startswith("-XX:SharedArchiveFile")]


def test_an_archive_is_made_anew_when_jars_are_newer(jars: Path) -> None:
    no_java = jars.parent / "no java"
    (archive := class_archive(jars)).touch()
    os.utime(jars, (1000, 1000))
    ensure_class_archive(jars, no_java, jars.parent / "kafka.log")
    os.utime(archive, (999, 999))
    with pytest.raises(FileNotFoundError):
        ensure_class_archive(jars, no_java, jars.parent / "kafka.log")
    assert sorted(path.name for path in jars.parent.iterdir()) == ["jars", "jars.jsa", "kafka.log"]
