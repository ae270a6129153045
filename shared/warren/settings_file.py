"""Reading of settings: warren.toml, the environment, secrets from files; refusals that help.

pydantic-settings merges the sources; this module adds `…_file` and errors that name the fix.
While services run, filters and objectives that change are taken up, nothing else.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import structlog
from pydantic import BaseModel, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError as SourceError,
)

from warren.errors import SettingsError
from warren.files import FileVersion, why_unread
from warren.refused_words import words_of
from warren.service_links import service_links
from warren.settings import FileSecret, Settings

PREFIX = "WARREN_"
_OF_A_NAME = "[key]"  # pydantic's last part of the place of a name in a table, behind the name
DEFAULT_FILE = "warren.toml"
# Environment variables that are not settings: the file's path and switches of tools and tests.
NOT_SETTINGS = ("WARREN_CONFIG", "WARREN_TOKEN", "WARREN_TEST_")


class _Sources(Settings, BaseSettings):
    """Settings, filled from the environment first and from warren.toml's tables second."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # named by the base class
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # named by the base class
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # named by the base class
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings

    @model_validator(mode="before")
    @classmethod
    def _read_named_files(cls, tables: Any) -> Any:
        return _resolve_files(tables, ())


def load_settings(path: Path | None = None) -> Settings:
    """The settings in force: defaults, then warren.toml, then the environment.

    `path` defaults to `$WARREN_CONFIG`, then to `warren.toml` in the working directory if it is
    there. Raises SettingsError; its `setting` is the dotted name.
    """
    tables = _read_toml(path)
    _refuse_unknown_variables()
    try:
        return _Sources(**tables)
    except SourceError as error:
        raise _not_json(error) from None
    except ValidationError as error:
        raise explained(error) from None


def settings_file(path: Path | None = None) -> Path:
    """The file that `load_settings(path)` reads; the default one need not exist."""
    return path or Path(os.environ.get("WARREN_CONFIG") or DEFAULT_FILE)


def _read_toml(path: Path | None) -> dict[str, Any]:
    file = settings_file(path)
    is_named = path is not None or bool(os.environ.get("WARREN_CONFIG"))
    if not is_named and not file.exists():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(str(file), why_unread(error)) from None


def _refuse_unknown_variables() -> None:
    """A misspelt WARREN_ variable would otherwise do nothing, silently."""
    links = service_links(os.environ)
    for name in os.environ:
        if not name.startswith(PREFIX) or name.startswith(NOT_SETTINGS) or name in links:
            continue
        path = tuple(name.removeprefix(PREFIX).lower().split("__"))
        if path[0] not in Settings.model_fields:
            meant = _single_underscores(path[0]) if len(path) == 1 else ""
            raise SettingsError(name, f"unknown setting{meant or _suggestion(path[:1], PREFIX)}")


def _not_json(error: SourceError) -> SettingsError:
    """A table or a list in the environment is JSON. Names the variable that is not."""
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError):
        return SettingsError("environment", str(cause or error))
    name = next(
        (n for n, value in os.environ.items() if n.startswith(PREFIX) and value == cause.doc),
        "environment",
    )
    is_table = name.removeprefix(PREFIX).lower() in Settings.model_fields
    meant = f"; did you mean {name}__…?" if is_table else ""
    return SettingsError(name, f"no JSON: {cause}{meant}")


def _single_underscores(written: str) -> str:
    """`WARREN_API_PORT` for `WARREN_API__PORT`: section and setting are parted by two."""
    known = [
        f"{section}__{name}"
        for section in Settings.model_fields
        if (model := _follow((section,))) is not None
        for name in model.model_fields
    ]
    near = difflib.get_close_matches(written, known, n=1, cutoff=0.8)
    return f"; did you mean {PREFIX}{near[0].upper()}?" if near else ""


def explained(
    error: ValidationError, model: type[BaseModel] = Settings, at: tuple[str, ...] = ()
) -> SettingsError:
    """What is wrong with a table, which stands `at` that place of warren.toml."""
    problems = error.errors(include_url=False)
    # A misspelt name also makes the right one missing: the misspelling is the cause.
    first = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    path = tuple(str(part) for part in first["loc"] if part != _OF_A_NAME)
    name = ".".join((*at, *path))
    if first["type"] == "extra_forbidden":
        return SettingsError(name, f"unknown setting{_suggestion(path, model=model, at=at)}")
    return SettingsError(name, words_of(first))


def _suggestion(
    path: tuple[str, ...],
    prefix: str = "",
    model: type[BaseModel] = Settings,
    at: tuple[str, ...] = (),
) -> str:
    """`; did you mean …?` with the nearest known name, or all names that are known there."""
    section = _follow(path[:-1], model)
    known = list(section.model_fields) if section else []
    near = difflib.get_close_matches(path[-1], known, n=1, cutoff=0.5)
    if not near:
        return f"; known here: {', '.join(sorted(known))}" if known else ""
    name = ".".join((*at, *path[:-1], near[0]))
    return f"; did you mean {prefix + name.upper() if prefix else name}?"


def _follow(path: tuple[str, ...], settings: type[BaseModel] = Settings) -> type[BaseModel] | None:
    """The section that `path` names. A table of sections (`clusters`) takes any name, a list of
    sections any number.
    """
    model: Any = settings
    for part in path:
        model = _present(model)
        if get_origin(model) in (dict, list):
            model = get_args(model)[-1]
        elif isinstance(model, type) and issubclass(model, BaseModel):
            field = model.model_fields.get(part)
            model = field.annotation if field else None
    model = _present(model)
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def _present(model: Any) -> Any:
    """Of a table that may be absent the table."""
    is_optional = get_origin(model) is UnionType and type(None) in get_args(model)
    return get_args(model)[0] if is_optional else model


def _resolve_files(value: Any, path: tuple[str, ...]) -> Any:
    """Replaces `name_file = "path"` by `name = <the file's text>`, trailing newline removed."""
    if not isinstance(value, Mapping):
        return value
    model = _follow(path)
    resolved: dict[str, Any] = {}
    for key, item in value.items():
        target = key.removesuffix("_file")
        is_field = model is not None and path[-1:] != ("kafka",) and key in model.model_fields
        if target == key or is_field or not isinstance(item, str):
            resolved[key] = _resolve_files(item, (*path, key))
            continue
        try:
            secret = FileSecret(Path(item))
        except (OSError, UnicodeDecodeError) as error:
            name = ".".join((*path, key))
            raise SettingsError(name, f"{item} cannot be read: {why_unread(error)}") from None
        # Only connections to Kafka look at their files again; other settings are plain text here.
        resolved[target] = secret if path[-1:] == ("kafka",) else secret.get_secret_value()
    return resolved


log = structlog.get_logger(__name__)

FILTERS = ("groups_allow", "groups_deny", "topics_allow", "topics_deny")


@dataclass(frozen=True, slots=True)
class Live:
    """What a service takes up while it runs. `take`: what was found, into what is in force; `check`
    raises SettingsError for what may not be taken up.
    """

    name: str
    take: Callable[[Settings, Settings], Settings]
    values: Callable[[Settings], Mapping[str, object]]
    check: Callable[[Settings, Settings], None] = lambda _found, _in_force: None


class SettingsWatch:
    """Looks at the file each time it is told to."""

    def __init__(self, path: Path | None, settings: Settings, live: Live | None = None) -> None:
        """`settings` are those in force, read from `path` (see `load_settings`) just now. `live`:
        the filters, unless told otherwise.
        """
        self._live = live or FILTER_LISTS
        self._path = path
        self.file = settings_file(path)
        self._in_force = settings
        self.is_refused = False
        """Whether the file, as it is now, cannot be used."""
        self._read = self._seen = FileVersion.of(self.file)

    def look(self) -> Settings | None:
        """Settings with what was found to take up; None when there is nothing to do.

        A file is read once it has stayed the same from one look to the next: an editor may be at
        it. One that cannot be used changes nothing and is told of.
        """
        seen, self._seen = self._seen, FileVersion.of(self.file)
        if self._seen != seen or seen == self._read:
            return None
        self._read = seen
        try:
            found = load_settings(self._path)
            self._live.check(found, self._in_force)
        except SettingsError as error:
            self.is_refused = True
            log.error(
                "settings refused, those before stay in force",
                file=str(self.file),
                problem=str(error),
            )
            return None
        self.is_refused = False
        taken = self._live.take(found, self._in_force)
        before, after = self._live.values(self._in_force), self._live.values(taken)
        # Other services take up other settings.
        if waiting := sorted(_changed(with_all_of(found, self._in_force), found)):
            log.warning("these settings are taken up at the next start", settings=waiting)
        if before == after:
            return None
        self._in_force = taken
        changed = {k for k in before.keys() | after.keys() if after.get(k) != before.get(k)}
        log.info(f"{self._live.name} changed", settings=sorted(changed))
        return taken


def _require_clusters(found: Settings, in_force: Settings) -> None:
    """A table that is missing would let in everything, so it is no way to remove a cluster."""
    for name in in_force.clusters:
        if name not in found.clusters:
            problem = "the table is missing; stop the collector to give up a cluster"
            raise SettingsError(f"clusters.{name}", problem)


def _filters(settings: Settings) -> dict[str, list[str]]:
    """By the setting's name."""
    tables = {"filters": settings.filters} | {
        f"clusters.{name}": cluster for name, cluster in settings.clusters.items()
    }
    return {f"{name}.{list_}": getattr(t, list_) for name, t in tables.items() for list_ in FILTERS}


def with_filters_of(found: Settings, in_force: Settings) -> Settings:
    """The settings in force with the filters that were found, for clusters that are in both."""
    clusters = {
        name: cluster.model_copy(
            update={each: getattr(found.clusters.get(name, cluster), each) for each in FILTERS}
        )
        for name, cluster in in_force.clusters.items()
    }
    return in_force.model_copy(update={"filters": found.filters, "clusters": clusters})


def with_objectives_of(found: Settings, in_force: Settings) -> Settings:
    return in_force.model_copy(update={"objectives": found.objectives})


def with_all_of(found: Settings, in_force: Settings) -> Settings:
    """With whatever some service takes up."""
    return with_objectives_of(found, with_filters_of(found, in_force))


def _objectives(settings: Settings) -> dict[str, object]:
    return {f"objectives.{each.name}": each for each in settings.objectives}


FILTER_LISTS = Live("filters", with_filters_of, _filters, _require_clusters)
OBJECTIVES = Live("objectives", with_objectives_of, _objectives)
ALL = Live(
    "settings", with_all_of, lambda each: {**_filters(each), **_objectives(each)}, _require_clusters
)


def _changed(taken: Settings, found: Settings) -> set[str]:
    """Names of what the file says and is not in force; never values, they may be secrets."""
    changed = {
        name
        for name in type(found).model_fields
        if name != "clusters" and getattr(found, name) != getattr(taken, name)
    }
    return changed | {
        f"clusters.{name}"
        for name, cluster in found.clusters.items()
        if cluster != taken.clusters.get(name)
    }
