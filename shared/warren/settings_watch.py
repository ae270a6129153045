"""Changes of warren.toml while services run: filters and objectives are taken up, nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from warren.errors import SettingsError
from warren.files import FileVersion
from warren.settings import Settings
from warren.settings_file import load_settings, settings_file

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
