"""`warren status` against an API that answers what the test says."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from cli.asked_api import ServedGroups, group_row, serving
from support.waiting import eventually
from typer.testing import CliRunner, Result
from warren.errors import SettingsError
from warren_cli import main
from warren_cli.api_client import ApiRefused, ApiUnavailable
from warren_cli.commands.status import status

app = typer.Typer()
app.command()(status)


GROUPS = [
    group_row("billing", "ERR"),
    group_row("mailer", "WARN", "eu"),
    group_row("billing-audit"),
    group_row("other"),
]


@pytest.fixture
def served() -> Iterator[ServedGroups]:
    with serving({"groups": GROUPS, "doubts": []}) as server:
        yield server


def run(served: ServedGroups, *arguments: str, columns: str = "200") -> Result:
    return CliRunner().invoke(app, ["--api", served.url, *arguments], env={"COLUMNS": columns})


def shown(result: Result) -> list[str]:
    return [entry["group"] for entry in json.loads(result.stdout)["groups"]]


def first_words(result: Result) -> list[str]:
    """Of the rows, without the heads and the line that counts."""
    assert result.exit_code == 0
    return [line.split()[0] for line in result.stdout.splitlines()[1:-1]]


def test_what_is_bad_in_the_order_of_the_api_and_a_line_that_counts(served: ServedGroups) -> None:
    result = run(served)
    assert first_words(result) == ["demo/billing", "eu/mailer"]
    assert result.stdout.splitlines()[-1] == "1 ERR · 1 WARN · 2 OK (--all shows them)"


def test_all(served: ServedGroups) -> None:
    result = run(served, "--all")
    names = ["demo/billing", "eu/mailer", "demo/billing-audit", "demo/other"]
    assert first_words(result) == names
    assert result.stdout.splitlines()[-1] == "1 ERR · 1 WARN · 2 OK"
    assert run(served, "--all", "-o", "name").stdout.splitlines() == names
    assert run(served, "--status", "ok", "-o", "name").stdout.splitlines() == names  # as it answers


def test_thousands_that_are_ok_are_one_line(served: ServedGroups) -> None:
    fine = [group_row(f"fine-{number}") for number in range(3_000)]
    served.body = {"groups": fine, "doubts": []}
    assert run(served).stdout == "3,000 groups, all OK (--all shows them)\n"
    served.body = {"groups": [*fine, broken("ERR"), SHARE], "doubts": []}
    table = run(served).stdout.splitlines()
    assert table[1].split()[:2] == ["demo/other", "ERR"]
    assert table[2:] == ["1 ERR · 3,000 OK · 1 not judged (--all shows them)"]


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], ""),
        (["--cluster", "eu"], "cluster=eu"),
        (["--group", "er$"], "regex=er%24"),
        (["--status", "err", "--status", "WARN"], "q=status%3Aerr%2Cwarn"),
        (
            ["--group", "a", "--status", "unknown", "--cluster", "x"],
            "cluster=x&regex=a&q=status%3Aunknown",
        ),
        (["--sort", "late"], "sort=late"),
    ],
)
def test_the_api_filters(served: ServedGroups, arguments: list[str], asked: str) -> None:
    result = run(served, "--json", *arguments)
    assert served.queries == [asked]
    assert shown(result) == ["billing", "mailer", "billing-audit", "other"]


UNKNOWN = group_row("dark", "UNKNOWN", explanation="cluster unreachable for 1h")


def broken(status: str) -> dict[str, Any]:
    """A group that is OK, and does not keep an objective."""
    objective = {"objective": "retention", "status": status, "sentence": "40 were deleted"}
    return {**GROUPS[-1], "severity": status, "broken_objectives": [objective]}


SHARE = group_row("thumbnails", None, total_lag=None, worst=None)


@pytest.mark.parametrize(
    ("groups", "doubts", "least", "code"),
    [
        (GROUPS, [], "err", 3),
        (GROUPS, ["old"], "err", 3),
        (GROUPS, ["old"], None, 0),
        (GROUPS[1:], [], "warn", 3),
        (GROUPS[1:], [], "err", 0),
        (GROUPS[1:], ["old"], "ERR", 1),
        ([broken("ERR")], [], "err", 3),
        ([broken("WARN")], [], "err", 0),
        ([broken("WARN")], [], "warn", 3),
        ([UNKNOWN], [], None, 1),
        ([UNKNOWN], [], "err", 4),
        ([*GROUPS[1:], UNKNOWN], [], "err", 4),
        ([*GROUPS[1:], UNKNOWN], [], "warn", 3),
        ([SHARE], [], "warn", 0),
    ],
)
def test_exit_codes(
    served: ServedGroups, groups: list[dict[str, Any]], doubts: list[str], least: str, code: int
) -> None:
    served.body = {"groups": groups, "doubts": doubts}
    assert run(served, *(("--fail-on", least) if least else ())).exit_code == code


def test_unknown_is_shown_with_its_reason(served: ServedGroups) -> None:
    served.body = {"groups": [*GROUPS, UNKNOWN], "doubts": []}
    assert "cluster unreachable for 1h" in run(served).stdout


def test_doubts_about_other_clusters_do_not_count(served: ServedGroups) -> None:
    """The API knows which doubts concern a cluster: only that one is asked for."""
    served.body = {"groups": GROUPS[1:], "doubts": ["Cluster demo is unreachable for 1h."]}
    of_eu = {"groups": [group_row("fine", "OK", "eu")], "doubts": [], "next": "c"}
    served.pages = {
        "cluster=eu": of_eu,
        "cluster=eu&cursor=c": {**of_eu, "next": None},
    }
    assert run(served, "--fail-on", "err", "--cluster", "eu").exit_code == 0
    assert run(served, "--fail-on", "err").exit_code == 1


def test_all_pages_are_one_list(served: ServedGroups) -> None:
    served.body = {"groups": GROUPS[:3], "doubts": ["old"], "next": "c"}
    served.pages = {"cursor=c": {"groups": GROUPS[3:], "doubts": [], "next": None}}
    result = run(served, "--json")
    assert shown(result) == [entry["group"] for entry in GROUPS]
    assert json.loads(result.stdout)["doubts"] == ["old"]


def test_doubts_are_shown(served: ServedGroups) -> None:
    served.body = {"groups": [], "doubts": ["No group has been judged for 5m."]}
    result = run(served)
    assert "no consumer group to show" in result.stdout
    assert "No group has been judged for 5m." in result.stdout


@pytest.mark.parametrize(
    "body", ['{"groups": [{"x": 1}], "doubts": []}', '{"groups": 1}', "null", "<html>", "[]"]
)
@pytest.mark.parametrize("command", ["status", "get groups", "describe group x"])
def test_something_else_answers(served: ServedGroups, body: str, command: str) -> None:
    served.body = served.everywhere = body.encode()
    result = CliRunner().invoke(main.app, [*command.split(), "--api", served.url])
    assert isinstance(result.exception, ApiUnavailable)
    assert "is not Warren's API" in str(result.exception)


@pytest.mark.parametrize("command", ["status", "get groups"])
def test_a_list_without_an_end_is_left(served: ServedGroups, command: str) -> None:
    served.body = json.dumps({"groups": GROUPS, "doubts": [], "next": "again"}).encode()
    result = CliRunner().invoke(main.app, [*command.split(), "--api", served.url])
    assert isinstance(result.exception, ApiUnavailable)
    assert served.asked == 2


def test_a_full_disk_is_told_in_a_line(served: ServedGroups) -> None:
    command = [sys.executable, "-m", "warren_cli.main", "get", "groups", "--api", served.url]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "warren: No space left on device\n")


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://ada:geheim@127.0.0.1:1"])
def test_nobody_answers(address: str) -> None:
    """Who logs in with the address is not shown."""
    result = CliRunner().invoke(app, ["--api", address])
    assert isinstance(result.exception, ApiUnavailable)
    assert "no answer from http://127.0.0.1:1:" in str(result.exception)


def test_what_there_is_not_is_no_success(served: ServedGroups) -> None:
    served.body = {"groups": [], "doubts": []}
    assert run(served, "--group", "nobody", "--fail-on", "err").exit_code == 4
    served.code, served.body = 404, {"detail": "Warren knows no cluster euu. Did you mean eu?"}
    result = run(served, "--cluster", "euu", "--fail-on", "err")
    assert isinstance(result.exception, SettingsError)
    assert str(result.exception) == "--cluster: Warren knows no cluster euu. Did you mean eu?"


@pytest.mark.parametrize(
    ("code", "body", "arguments", "refusal"),
    [
        (200, {}, ["--api", "localhost:8000"], "--api: an address starts with http"),
        (422, {"detail": "regex: none"}, ["--group", "("], "groups: regex: none"),
        (503, {"title": "Starting", "detail": "Still reading."}, [], "Still reading."),
    ],
)
def test_what_the_api_refuses(
    served: ServedGroups, code: int, body: dict[str, str], arguments: list[str], refusal: str
) -> None:
    served.code, served.body = code, body
    result = run(served, *arguments)
    assert isinstance(result.exception, SettingsError | ApiRefused)
    assert str(result.exception).startswith(refusal)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_address_comes_from_the_settings(
    served: ServedGroups, tmp_path: Path, host: str
) -> None:
    file = tmp_path / "warren.toml"
    file.write_text(f'[api]\nhost = "{host}"\nport = {served.server_address[1]}\n')
    result = CliRunner().invoke(app, ["--config", str(file), "--json"])
    assert len(shown(result)) == 4


def test_watching_goes_on_when_the_api_is_away_and_ends_with_ctrl_c(
    served: ServedGroups, tmp_path: Path
) -> None:
    output = tmp_path / "lines"
    with output.open("wb") as lines:
        code = "from warren_cli.commands.status import status; import typer; typer.run(status)"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "--api", served.url, "--watch", "--json"],
            stdout=lines,
            stderr=lines,
            env={**os.environ},
        )
    eventually(lambda: served.asked >= 1, message="it has asked")
    served.code, served.body = 503, {"detail": "away for a moment"}
    eventually(lambda: "away for a moment" in output.read_text(), message="it says so")
    served.code, served.body = 200, {"groups": [], "doubts": []}
    eventually(lambda: '{"groups": [], "doubts": []}' in output.read_text(), message="it is back")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert "Traceback" not in output.read_text()
