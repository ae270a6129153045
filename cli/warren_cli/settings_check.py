"""What `warren config check` finds beyond the settings: what a service could not use, and
what does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.kafka.connection import require_usable
from warren.patterns import any_matches, expressions
from warren.settings import KafkaConnection, SavedFilter, Settings
from warren.words import shortened

LONGEST_LIST = 200  # characters of the clusters' names in a line


def connections(settings: Settings) -> Mapping[str, KafkaConnection]:
    """By the tables that they stand in."""
    clusters = {f"clusters.{name}": each for name, each in settings.clusters.items()}
    return {"home": settings.home, **clusters}


def refuse_unusable(settings: Settings) -> None:
    """Raise SettingsError for the first thing that a service would not start with, or a page not
    understand. Asks nobody.
    """
    for setting, connection in connections(settings).items():
        require_usable(setting.removeprefix("clusters."), setting, connection)
    # Only services have what knows channels and searches.
    if settings.notifier.channels:
        from warren_notifier.channels.configured import configured_channels

        configured_channels(settings.notifier, SystemClock())
    for number, saved in enumerate(settings.api.filters):
        _refuse_unknown_words(f"api.filters.{number}.q", saved)


def _refuse_unknown_words(setting: str, saved: SavedFilter) -> None:
    from warren_api.search import GroupSearch

    search = GroupSearch(saved.q)
    # Which groups there are is not known here: a word with a colon is taken for a filter.
    hints = [f"{hint} A name goes in quotes." for hint in search.hints(lambda: ())]
    for problem in (*search.problems, *hints):
        raise SettingsError(setting, problem)


def without_cluster(settings: Settings) -> Iterator[str]:
    """A line for each entry that no cluster of these settings matches, so that it does nothing."""
    names = list(settings.clusters)
    for entry, patterns in _clusters_of_entries(settings):
        wanted = expressions(patterns)
        if names and not any(any_matches(wanted, name) for name in names):
            verb = "matches" if len(patterns) == 1 else "match"
            written = ", ".join(map(repr, patterns))
            listed = shortened(", ".join(names), LONGEST_LIST)
            yield f"{entry}: clusters {written} {verb} none of {listed}"


def _clusters_of_entries(settings: Settings) -> Iterator[tuple[str, list[str]]]:
    for route in settings.notifier.routes:
        yield f"notifier.routes.{route.name}", route.clusters
    for objective in settings.objectives:
        yield f"objectives.{objective.name}", objective.clusters
    for number, group in enumerate(settings.groups):
        yield f"groups.{number}", group.clusters
    for number, override in enumerate(settings.evaluation.overrides):
        yield f"evaluation.overrides.{number}", override.clusters
