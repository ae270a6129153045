from __future__ import annotations

import pytest
from rich.table import Table
from warren_cli.terminal.output_console import output_console

LONG = "payments-reconciliation-worker-" * 5


def shown() -> None:
    table = Table(box=None)
    table.add_column("group", overflow="fold")
    table.add_row(LONG)
    output_console().print(table)


def test_a_pipe_gets_names_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    shown()
    assert LONG in capsys.readouterr().out


def test_columns_say_how_wide_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown()
    assert max(map(len, capsys.readouterr().out.splitlines())) == 60
