"""What `warren up` shows, with an API that a test answers for."""

import io
from collections.abc import Iterator

import pytest
from cli.asked_api import ServedGroups, group_row, serving
from rich.console import Console
from support.waiting import eventually
from warren_cli.commands.up import LastingConsole, PlainScreen, TableScreen, change_line

GROUP = group_row("g", total_lag=0, worst=None)
WORST = {"topic": "t", "partition": 0, "status": "WARN", "lag": 7}
BAD = group_row("g", "WARN", total_lag=7, worst=WORST)


@pytest.fixture
def api() -> Iterator[ServedGroups]:
    with serving({"groups": [BAD], "doubts": []}) as server:
        yield server


def test_plain_lines_appear_on_changes_only(
    api: ServedGroups, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = PlainScreen(Console(force_terminal=False, width=20))
    api.code = 503
    screen.follow(api.url)
    eventually(api.asked_again(), message="asked while it is not ready")
    assert capsys.readouterr().out == ""
    api.code, api.body = 200, {"groups": [GROUP], "doubts": []}
    eventually(api.asked_again(), message="asked twice for the same")
    api.body = {"groups": [BAD], "doubts": []}
    eventually(api.asked_again(), message="asked again")
    screen.close()
    screen.say("stopped")
    assert capsys.readouterr().out.splitlines() == [
        f"dashboard: {api.url}/",
        "demo/g: OK, lag 0",
        "demo/g: WARN (was OK), lag 7, worst t/0 WARN, lag 7",
        "stopped",
    ]


def test_a_terminal_gets_the_address_the_table_and_the_doubts(
    api: ServedGroups, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = TableScreen(Console(force_terminal=True, width=120, no_color=True))
    api.body = {"groups": [BAD], "doubts": ["the evaluator is behind"]}
    screen.follow(api.url)
    eventually(api.asked_again(), message="asked")
    screen.say("evaluator was killed")
    screen.close()
    output = capsys.readouterr().out
    for part in (f"{api.url}/", "demo/g", "the evaluator is behind", "was killed"):
        assert part in output


def test_a_reader_that_has_gone_is_no_failure(api: ServedGroups) -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    for screen in (
        PlainScreen(LastingConsole(file=Gone())),
        TableScreen(LastingConsole(file=Gone(), force_terminal=True)),
    ):
        screen.follow(api.url)
        eventually(api.asked_again(), message="asked")
        screen.close()
        screen.say("stopped")


def test_the_first_sight_of_a_group_has_no_status_before() -> None:
    assert change_line(GROUP, None, 0) == "demo/g: OK, lag 0"
    assert change_line({**BAD, "words": {"short": "lag growing"}}, "OK", 0) == (
        "demo/g: WARN (was OK), lag 7, worst t/0 WARN, lag 7: lag growing"
    )
