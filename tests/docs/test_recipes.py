"""Settings in recipes are what Warren takes."""

import re
import tomllib
from pathlib import Path

import pytest
from warren.settings_file import load_settings
from warren_notifier.channels.configured import channel_settings

RECIPES = sorted((Path(__file__).parents[2] / "docs/recipes").glob("*.md"))
BLOCKS = [
    (path.name, block)
    for path in RECIPES
    for block in re.findall(r"^```toml\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize(("name", "block"), BLOCKS)
def test_its_settings_are_taken(name: str, block: str, tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text(block)
    settings = load_settings(file)
    channel_settings(settings.notifier)
    assert settings.model_fields_set == tomllib.loads(block).keys(), name
