from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warren.settings import Settings
from warren.settings_file import load_settings
from warren_local.effective_file import to_toml, write_effective

SETTINGS = Settings.model_validate(
    {
        "home": {"bootstrap": "h:1", "kafka": {"sasl.password": 'a"b\\c\né'}},
        "clusters": {
            "prod.eu": {"bootstrap": "p:1", "groups_deny": []},
            "b": {"bootstrap": "p:2", "groups_allow": ["^x", "y\\d+$"]},
        },
        "collector": {"interval": 0.25, "metrics_port": 9},
        "objectives": [{"name": "on-time", "max_freshness": 60, "for": 20, "clear_after": 5}],
        "notifier": {
            "routes": [
                {
                    "name": "people",
                    "channels": ["mail"],
                    "mute": [{"days": ["sat"], "from": "22:00", "to": "06:00"}],
                }
            ],
            "channels": {"mail": {"type": "email", "host": "m", "sender": "w@x", "to": ["a@x"]}},
        },
    }
)


def test_services_read_back_what_was_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WARREN_CONFIG", "WARREN_LOCAL__JARS_DIR"):
        monkeypatch.delenv(name, raising=False)
    path = write_effective(SETTINGS, tmp_path)
    read = load_settings(path)
    assert read.model_dump() == SETTINGS.model_dump()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text("old")
    (tmp_path / "warren.toml").chmod(0o644)
    path = write_effective(SETTINGS, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["warren.toml"]


_plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
_tables = st.recursive(
    st.dictionaries(_names, st.one_of(_plain, st.lists(_plain)), max_size=3),
    lambda inner: st.dictionaries(_names, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(_names, _tables, max_size=3))
def test_any_tables_survive(tables: dict[str, object]) -> None:
    assert tomllib.loads(to_toml(tables)) == tables


def test_a_secret_that_is_read_again_stays_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("right\n")
    given = tmp_path / "given.toml"
    given.write_text(f'[home.kafka]\n"sasl.password_file" = "{tmp_path / "password"}"')
    path = write_effective(load_settings(given), tmp_path)
    assert "right" not in path.read_text()
    (tmp_path / "password").write_text("renewed\n")
    assert load_settings(path).home.librdkafka()["sasl.password"] == "renewed"
