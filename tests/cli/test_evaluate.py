"""`warren evaluate`: JSON windows in, verdicts out, one line for what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, strategies as st
from typer.testing import CliRunner
from warren_cli.commands import evaluate as evaluation
from warren_cli.commands.evaluate import evaluate

app = typer.Typer()
app.command()(evaluate)

STOPPED = {
    "name": "stopped",
    "now_s": 1000,
    "current_lag": 250,
    "broker_head_offsets": [5250],
    "offsets": [
        {"offset": 1000 * i, "timestamp_ms": 100_000 * i, "lag": 50 * i} for i in range(1, 6)
    ],
}


def record(**changes: Any) -> dict[str, Any]:
    return {**STOPPED, **changes}


def run(text: str | bytes, *arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, list(arguments), input=text)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_array_and_lines_give_the_same() -> None:
    records = [record(name=f"r{i}", current_lag=i % 2) for i in range(5)]
    expected = [
        {"name": f"r{i}", "status": "STOP" if i % 2 else "OK", "complete": 1.0} for i in range(5)
    ]
    assert run(json.dumps(records, indent=1)) == expected
    assert run("\n\n".join(map(json.dumps, records)) + "\r\n") == expected
    assert run("\ufeff" + json.dumps(records[0]), "-") == expected[:1]
    assert run("") == run("[]") == run(" \n[ ]\n") == []


def test_why_on_demand() -> None:
    stopped, ok = run(json.dumps([record(), record(current_lag=0)]), "--why")
    assert (ok["reason"], ok["explanation"]) == (None, None)
    assert stopped["reason"] == "no_commit"
    assert stopped["explanation"] == (
        "no commit for 8m 20s, usual pause 1m 40s; 250 records behind, log at rest"
    )


def test_progress_learns_from_the_window() -> None:
    """From pauses of 100 s it is known that 500 s are too long, and 130 s are not."""
    windows = json.dumps([record(), record(now_s=630)])
    late, soon = run(windows, "--policy", "progress", "--why")
    assert (late["status"], late["reason"]) == ("STOP", "no_commit")
    assert soon["status"] == "OK"


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "windows.json"
    file.write_text(json.dumps([STOPPED]))
    assert run("", str(file)) == [{"name": "stopped", "status": "STOP", "complete": 1.0}]


def test_the_policy_is_an_option() -> None:
    slots = [dict(slot, lag=0) for slot in STOPPED["offsets"]]  # type: ignore[attr-defined]
    text = json.dumps(record(offsets=slots))
    assert run(text, "--policy", "burrow")[0]["status"] == "STOP"
    assert run(text, "--policy", "progress")[0]["status"] == "STOP"
    assert CliRunner().invoke(app, ["--policy", "other"], input=text).exit_code == 2


def test_names_need_not_be_ascii() -> None:
    assert run(json.dumps(record(name="zażółć €"), ensure_ascii=False))[0]["name"] == "zażółć €"


SLOTS: list[Any] = STOPPED["offsets"]  # type: ignore[assignment]
LATEST = 2**62 - 1
EDGES = [
    {"offset": 0, "timestamp_ms": -LATEST, "lag": 2**63 - 1},
    {"offset": 2**63 - 1, "timestamp_ms": LATEST, "lag": 2**63 - 1},
]
LARGEST = {"offsets": EDGES, "current_lag": 2**63 - 1, "broker_head_offsets": []}


@pytest.mark.parametrize(
    ("changes", "status", "complete"),
    [
        ({"offsets": []}, "OK", 0.0),
        ({"offsets": [None, None]}, "OK", 0.0),
        ({"offsets": [], "intervals": 10}, "OK", 0.0),
        # Empty slots count for completeness only.
        ({"offsets": [None] * 5 + SLOTS}, "STOP", 0.5),
        ({"offsets": [None, *SLOTS[:2], None, *SLOTS[2:], None]}, "STOP", 0.625),
        ({"intervals": 20}, "STOP", 0.25),
        ({"intervals": 5}, "STOP", 1.0),
        # The newest three: their span is 200 s, the silence still 500 s.
        ({"intervals": 3, "now_s": 699}, "WARN", 1.0),
        ({"intervals": 3, "now_s": 701}, "STOP", 1.0),
        ({"intervals": 2**62}, "STOP", 5 / 2**62),
        ({"intervals": 10, "minimum_complete": 0.5}, "STOP", 0.5),
        ({"intervals": 10, "minimum_complete": 0.51}, "OK", 0.5),
        ({"allowed_lag": 250}, "OK", 1.0),
        ({"allowed_lag": 249}, "STOP", 1.0),
        # Nothing wraps around at the largest numbers.
        ({**LARGEST, "now_s": LATEST // 1000}, "WARN", 1.0),
        ({**LARGEST, "now_s": -(LATEST // 1000)}, "WARN", 1.0),
    ],
)
def test_verdicts(changes: dict[str, Any], status: str, complete: float) -> None:
    (answer,) = run(json.dumps(record(**changes)))
    assert (answer["status"], answer["complete"]) == (status, complete)


def test_many_records_are_evaluated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(name=str(i), offsets=SLOTS[: i % 6], intervals=5) for i in range(50)]
    text = json.dumps(records)
    together = run(text)
    monkeypatch.setattr(evaluation, "SLOTS_TOGETHER", 7)
    assert run(text) == together
    assert [answer["name"] for answer in together] == [str(i) for i in range(50)]


FIRST = json.dumps(STOPPED)
BAD = {
    "not JSON": ("nonsense", "record 1: not JSON"),
    "cut off": (f"{FIRST}\n{FIRST[:-9]}", "record 2: not JSON"),
    "two on a line": (f"{FIRST}{FIRST}", "record 1: not JSON"),
    "not JSON in an array": (f"[{FIRST},{FIRST},oops]", "array: not JSON"),
    "an array without end": (f"[{FIRST}", "array: not JSON"),
    "a comma too many": (f"[{FIRST},]", "array: not JSON"),
    "text after an array": (f"[{FIRST}] x", "array: not JSON"),
    "not a number": (FIRST.replace("1000,", "NaN,", 1), "record 1: not JSON: NaN"),
    "nested too deeply": ("[" * 200_000, "array: not JSON"),
    "a number of too many digits": ('{"name": ' + "9" * 5000 + "}", "record 1: not JSON"),
    "not an object": (f"{FIRST}\n7", "record 2: "),
    "no name": (json.dumps({k: v for k, v in STOPPED.items() if k != "name"}), "record 1: name: "),
    "time with a fraction": (json.dumps(record(now_s=1.5)), "record 1: now_s: "),
    "time as text": (json.dumps(record(now_s="1")), "record 1: now_s: "),
    "time out of range": (json.dumps(record(now_s=2**62)), "record 1: now_s: "),
    "true for a lag": (json.dumps(record(current_lag=True)), "record 1: current_lag: "),
    "negative lag": (json.dumps(record(current_lag=-1)), "record 1: current_lag: "),
    "heads missing": (json.dumps(record(broker_head_offsets=None)), "broker_head_offsets: "),
    "head out of range": (json.dumps(record(broker_head_offsets=[2**63])), "_offsets.0: "),
    "slot without time": (
        json.dumps([STOPPED, record(offsets=[None, {"offset": 1, "lag": 0}])]),
        "record 2: offsets.1.timestamp_ms: ",
    ),
    "slot without lag": (
        json.dumps(record(offsets=[{"offset": 1, "timestamp_ms": 0}])),
        "offsets.0.lag: ",
    ),
    "negative offset": (
        json.dumps(record(offsets=[{"offset": -1, "timestamp_ms": 0, "lag": 0}])),
        "offsets.0.offset: ",
    ),
    "no intervals": (json.dumps(record(intervals=0)), "record 1: intervals: "),
    "share beyond one": (json.dumps(record(minimum_complete=1.1)), "minimum_complete: "),
}


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_with_record_and_field(text: str, problem: str) -> None:
    result = CliRunner().invoke(app, [], input=text)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("warren evaluate: ")
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


def test_bytes_that_are_no_text_and_files_that_are_not_there() -> None:
    result = CliRunner().invoke(app, [], input=b'{"name":"\xff"}')
    assert (result.exit_code, result.stdout) == (2, "")
    assert "record 1: not UTF-8" in result.stderr
    result = CliRunner().invoke(app, ["/nowhere/at-all.json"])
    assert result.exit_code == 2
    assert result.stderr == "warren evaluate: /nowhere/at-all.json: No such file or directory\n"


@given(st.binary(max_size=100) | st.text(max_size=100).map(str.encode))
def test_any_input_is_answered_or_refused(raw: bytes) -> None:
    result = CliRunner().invoke(app, [], input=raw)
    assert result.exit_code in (0, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)
