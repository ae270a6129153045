"""One archiver at a time on a lake."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import eventually
from warren.errors import SettingsError
from warren_archiver.application import LOCK, lake_lock

HOLD = """
import sys
from warren_archiver.application import lake_lock
with lake_lock(sys.argv[1]):
    print("has it", flush=True)
"""


def test_the_second_one_says_that_it_waits_and_goes_on_when_the_first_has_ended(
    tmp_path: Path,
) -> None:
    lake, said = tmp_path / "new" / "lake", tmp_path / "said"
    with said.open("wb") as sink:
        with lake_lock(f"file:{lake}"):
            command = [sys.executable, "-c", HOLD, str(lake)]
            second = subprocess.Popen(command, stdout=sink, stderr=sink)
            eventually(said.read_text, message="it says something")
            assert "waiting until it has ended" in said.read_text()
            assert "has it" not in said.read_text()
        assert second.wait(60) == 0
    assert "has it" in said.read_text()


def test_who_was_killed_holds_nothing(tmp_path: Path) -> None:
    held = f"{HOLD}    import time; time.sleep(600)\n"
    first = subprocess.Popen([sys.executable, "-c", held, str(tmp_path)], stdout=subprocess.PIPE)
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"has it\n"
        first.kill()
    with lake_lock(str(tmp_path)):
        pass


def test_a_lake_by_url_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with lake_lock("s3a://lake/warren"), lake_lock("s3a://lake/warren"):
        assert not list(tmp_path.rglob(LOCK))


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(SettingsError, match=r"archiver\.path: .*file"),
        lake_lock(str(tmp_path / "file" / "lake")),
    ):
        pass
