"""A report file is as old as what is known in it, whenever it was written."""

from pathlib import Path
from typing import Any

import pytest
from support.reports import END, group, made
from warren.clock import SystemClock
from warren.report_files import REPORT_FILES
from warren.settings import Settings
from warren_archiver.report import __main__ as reports


def test_a_report_says_until_when_it_is_and_its_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(*_: Any, **__: Any) -> Any:
        return made(group("mail"))

    monkeypatch.setattr(reports, "report", known)
    reports.write_reports(Settings(), tmp_path, SystemClock())
    for name, _, _ in REPORT_FILES:
        assert round((tmp_path / name).stat().st_mtime * 1000) == END
        page = (tmp_path / name).read_text()
        assert "10:00:00 UTC</h1>" in page
        assert "What happened until 10:00 UTC" in page
