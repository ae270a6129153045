"""What ends a pass: it hangs, or a topic is missing."""

import threading
from typing import Any

import pytest
from support.archive_lab import Archive
from support.few_tables import only
from warren.errors import TopicMissing
from warren.settings import HomeSettings, StandstillSettings
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.streaming import archive


def test_a_pass_that_hangs_is_ended_with_the_reason(
    lab: Archive, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(monkeypatch)
    ended = threading.Event()
    monkeypatch.setattr(archive, "end_process", ended.set)
    monkeypatch.setattr(archive, "effort", int)  # nothing works
    monkeypatch.setattr(Bronze, "take", lambda _: ended.wait(60))
    quick = StandstillSettings(not_ready_after=0.1, exit_after=0.2)
    lab.settings = lab.settings.model_copy(update={"standstill": quick})
    lab.whole_pass()
    assert ended.is_set()
    said = capsys.readouterr().err.splitlines()
    assert "warren-archiver: the pass hung (standstill.exit_after)" in said


def test_a_topic_that_is_missing_is_the_reason(broker: Any, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", create_topics=False)
    with pytest.raises(TopicMissing, match=rf"{unique}\.\S+: missing; create it"):
        archive.prepare_topics(home)
