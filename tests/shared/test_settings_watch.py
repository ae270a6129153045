from pathlib import Path

import pytest
from structlog.testing import capture_logs
from warren.settings import Settings
from warren.settings_file import OBJECTIVES, SettingsWatch, load_settings

BEFORE = """
[clusters.prod]
bootstrap = "kafka:9092"
groups_deny = ["^tmp-"]
[clusters.prod.kafka]
"sasl.password" = "secret"
[collector]
interval = 5
"""


class Edited:
    """A settings file that is being watched."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.write(BEFORE)
        self.watch = SettingsWatch(file, load_settings(file))
        self.logs: list[str] = []

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def look(self) -> Settings | None:
        with capture_logs() as logs:
            found = self.watch.look()
        self.logs = [str(line) for line in logs]
        return found

    def looks(self) -> Settings | None:
        """The second look sees that the file stays as it is."""
        assert self.look() is None
        return self.look()


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path / "warren.toml")


def test_nothing_changed(edited: Edited) -> None:
    assert edited.looks() is None
    edited.write(BEFORE)  # another time of change, the same content
    assert edited.looks() is None
    assert edited.logs == []


def test_other_filters_are_taken_up_once(edited: Edited) -> None:
    edited.write(BEFORE.replace("^tmp-", "^test-") + "[filters]\ntopics_deny = ['^internal-']\n")
    found = edited.looks()
    assert found is not None
    assert found.clusters["prod"].groups_deny == ["^test-"]
    assert found.filters.topics_deny == ["^internal-"]
    assert "clusters.prod.groups_deny" in edited.logs[0]
    assert "filters.topics_deny" in edited.logs[0]
    assert edited.looks() is None
    edited.write(BEFORE)
    back = edited.looks()
    assert back is not None
    assert back.clusters["prod"].groups_deny == ["^tmp-"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BEFORE.replace("^tmp-", "["), "clusters.prod.groups_deny: '[' is no regular expression"),
        (BEFORE.replace("groups_deny", "group_deny"), "did you mean clusters.prod.groups_deny?"),
        (BEFORE + "]", "at line"),
        ("", "clusters.prod: the table is missing"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(
    edited: Edited, text: str, reason: str
) -> None:
    edited.write(text)
    assert edited.looks() is None
    assert reason in edited.logs[0]
    assert "settings refused" in edited.logs[0]
    assert edited.watch.is_refused
    edited.look()
    assert edited.logs == []  # it is told once
    edited.write(BEFORE.replace("^tmp-", "^test-"))
    assert edited.looks() is not None
    assert not edited.watch.is_refused


def test_a_file_that_is_gone_is_refused(edited: Edited) -> None:
    edited.file.unlink()
    assert edited.looks() is None
    assert edited.watch.is_refused
    edited.write(BEFORE)
    assert edited.looks() is None  # the same filters as before
    assert not edited.watch.is_refused


def test_a_file_is_read_only_once_it_stays_as_it_is(edited: Edited) -> None:
    for length in range(3):
        edited.write(BEFORE + "#" * length + "\n[filters]\ngroups_deny = ['x']\n")
        assert edited.look() is None
    assert edited.look() is not None


def test_all_else_waits_for_the_next_start(edited: Edited) -> None:
    edited.write(
        BEFORE.replace("interval = 5", "interval = 6").replace("secret", "other")
        + "[clusters.test]\nbootstrap = 'kafka-2:9092'\n"
    )
    assert edited.looks() is None
    (line,) = edited.logs
    assert "['clusters.prod', 'clusters.test', 'collector']" in line
    assert "other" not in line
    edited.write(BEFORE.replace("interval = 5", "interval = 6").replace("^tmp-", "x"))
    found = edited.looks()
    assert found is not None
    assert found.collector.interval == 5
    assert found.clusters["prod"].groups_deny == ["x"]


def test_what_other_services_take_up_waits_for_no_start(edited: Edited) -> None:
    """Objectives are the evaluator's."""
    edited.write(BEFORE + "[[objectives]]\nname = 'a'\nmax_lag = 5\n")
    assert edited.looks() is None
    assert edited.logs == []
    edited.watch = SettingsWatch(edited.file, load_settings(edited.file), OBJECTIVES)
    changed = BEFORE.replace("^tmp-", "^test-").replace("interval = 5", "interval = 6")
    edited.write(changed + "[[objectives]]\nname = 'b'\nmax_lag = 5\n")
    found = edited.looks()
    assert found is not None
    assert [each.name for each in found.objectives] == ["b"]
    assert found.clusters["prod"].groups_deny == ["^tmp-"]
    assert "['collector']" in edited.logs[0]
    assert "['objectives.a', 'objectives.b']" in edited.logs[1]
