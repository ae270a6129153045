"""What Kubernetes puts into every pod's environment beside a service whose name begins so."""

import json
from pathlib import Path

import pytest
from warren import log
from warren.errors import SettingsError
from warren.service_links import service_links
from warren.settings import LogSettings
from warren.settings_file import load_settings

# As a pod has them beside the services `warren-api` (port 8000, named http) and `warren`.
LINKS = {
    "WARREN_API_SERVICE_HOST": "10.96.0.12",
    "WARREN_API_SERVICE_PORT": "8000",
    "WARREN_API_SERVICE_PORT_HTTP": "8000",
    "WARREN_API_PORT": "tcp://10.96.0.12:8000",
    "WARREN_API_PORT_8000_TCP": "tcp://10.96.0.12:8000",
    "WARREN_API_PORT_8000_TCP_PROTO": "tcp",
    "WARREN_API_PORT_8000_TCP_PORT": "8000",
    "WARREN_API_PORT_8000_TCP_ADDR": "10.96.0.12",
    "WARREN_SERVICE_HOST": "fd00::12",
    "WARREN_SERVICE_PORT": "8000",
    "WARREN_PORT": "tcp://[fd00::12]:8000",
    "WARREN_PORT_8125_UDP": "udp://[fd00::12]:8125",
}


@pytest.fixture(autouse=True)
def _in_a_pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in LINKS.items():
        monkeypatch.setenv(name, value)


def test_they_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARREN_API__PORT", "8456")
    assert load_settings().api.port == 8456


def test_a_service_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(LogSettings(format="json"), service="api")
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["level"], told["service"]) == ("info", "api")
    assert "Kubernetes" in told["event"]
    assert told["variables"] == sorted(LINKS)


def test_the_command_line_keeps_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(LogSettings(format="json"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("WARREN_API_PORT", "8123", "WARREN_API__PORT"),
        ("WARREN_API_PROT", "8123", "WARREN_API__PORT"),
        ("WARREN_COLLECTOR_METRICS_PORT", "9100", "WARREN_COLLECTOR__METRICS_PORT"),
        ("WARREN_HOME_BOOTSTRAP", "tcp://kafka:9092", "WARREN_HOME__BOOTSTRAP"),
        ("WARREN_EVALUATON__POLICY", "burrow", "WARREN_EVALUATION"),
    ],
)
def test_misspelt_settings_are_refused_as_before(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, meant: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=rf"did you mean {meant}\?"):
        load_settings()


def test_a_setting_is_never_taken_for_a_link() -> None:
    assert service_links({"WARREN_API__PORT": "tcp://10.96.0.12:8000"}) == []
