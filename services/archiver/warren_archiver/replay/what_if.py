"""What would be different: the settings that a replay changes."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from warren.errors import SettingsError
from warren.refused_words import words_of
from warren.settings import EvaluationOverride, EvaluationSettings, Settings

_PREFIX = "evaluation."


def changed(settings: Settings, assignments: Sequence[str], policy: str | None = None) -> Settings:
    """With `evaluation.<name>=<value>` instead; values are TOML's, or plain text.

    A policy is that of all groups, whatever overrides say, and stands above the assignments.

    Raises SettingsError.
    """
    values = settings.evaluation.model_dump()
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        field = name.strip().removeprefix(_PREFIX)
        if not separator or not name.strip().startswith(_PREFIX) or field not in values:
            raise SettingsError(
                "--set",
                f"{assignment!r} is not evaluation.<name>=<value>, with a name that [evaluation] "
                f"has: {', '.join(values)}",
            )
        values[field] = _value(text.strip())
    if policy is not None:
        values |= {"policy": policy, "overrides": _without_policies(values["overrides"])}
    try:
        evaluation = EvaluationSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        option = (
            "--policy" if policy is not None and where == "policy" else f"--set {_PREFIX}{where}"
        )
        raise SettingsError(option, words_of(first)) from None
    return settings.model_copy(update={"evaluation": evaluation})


def _without_policies(overrides: object) -> object:
    """What else they change is left; what was assigned may be anything."""
    if not isinstance(overrides, list):
        return overrides
    names = EvaluationOverride.model_fields.keys() - {"clusters", "groups", "topics", "policy"}
    others = [{**each, "policy": None} for each in overrides if isinstance(each, dict)]
    return [each for each in others if any(each.get(name) is not None for name in names)]


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
