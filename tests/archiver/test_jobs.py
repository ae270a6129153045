"""`warren-archiver JOB`, on what was archived through a real broker."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import warren_archiver.application
from pyspark.sql import SparkSession
from support.archive_lab import Archive, events_between
from warren.contracts.topics import ARCHIVED
from warren.kafka.topics import ensure_topics
from warren_archiver.__main__ import main
from warren_archiver.jobs import JOBS
from warren_archiver.layers import LAYERS
from warren_archiver.silver.catalogue import POSITIONS
from warren_archiver.streaming import upkeep

pytestmark = pytest.mark.timeout(900)


def _config(lab: Archive, jars: Path, tmp_path: Path) -> Path:
    home, archiver = lab.settings.home, lab.settings.archiver
    config = tmp_path / "warren.toml"
    config.write_text(
        f"""
        [home]
        bootstrap = "{home.bootstrap}"
        topic_prefix = "{home.topic_prefix}"
        partitions = 2
        [archiver]
        path = "{archiver.path}"
        jars_dir = "{jars}"
        metrics_port = 0
        """
    )
    return config


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (["backfill", "--day", "yesterday"], "--day"),
        (["replay", "--group", "("], "--group"),
        (["replay", "--last", "1h", "--from", "2026-11-21"], "--last"),
        (["replay", "--set", "evaluation.intervals=0"], "evaluation.intervals"),
    ],
)
def test_what_is_wrong_is_named_before_spark_is_started(
    arguments: list[str],
    setting: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "warren.toml"
    config.write_text("")
    monkeypatch.setattr(sys, "argv", ["warren-archiver", *arguments, "--config", str(config)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert setting in capsys.readouterr().err


def test_each_job_answers_in_json(
    lab: Archive,
    spark_jars: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the session that is there; as a process, one is test_spark_failures.py's."""
    ensure_topics(lab.admin, lab.settings.home)
    lab.send(events_between(0, 10))
    lab.once(silver_interval=600)
    day = lab.rows()[0]["date"]
    until = round(lab.rows()[-1]["timestamp"].timestamp()) * 1000 + 60_000
    config = _config(lab, spark_jars, tmp_path)
    monkeypatch.setattr(warren_archiver.application, "open_session", lambda *_: lab.spark)
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)
    monkeypatch.setattr(upkeep, "LAYERS", {"bronze": LAYERS["bronze"], "silver": (POSITIONS,)})

    def answer(*arguments: str) -> tuple[int, Any]:
        monkeypatch.setattr(sys, "argv", ["warren-archiver", *arguments, "--config", str(config)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, json.loads(capsys.readouterr().out.splitlines()[-1])

    answers = {
        "check": answer("check", "--wait", "0"),
        "upkeep": answer("upkeep"),
        "backfill": answer("backfill", "--day", str(day)),
        "replay": answer("replay", "--to", str(until)),
    }
    assert answers.keys() == JOBS.keys()
    assert {name: code for name, (code, _) in answers.items()} == dict.fromkeys(JOBS, 0)
    kept = {each["table"] for each in answers["upkeep"][1]}
    assert {"bronze/events", "silver/positions"} <= kept
    assert set(answers["backfill"][1].values()) == {0}
    assert answers["replay"][1]["group"] == ""
    assert len(answers["check"][1]) == len(ARCHIVED)
