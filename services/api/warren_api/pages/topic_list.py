"""All topics, also those that no group consumes: which are shown, in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from warren_api.model.topics import TopicView
from warren_api.pages.list_view import ListView, Paged, paged
from warren_api.search_terms import Term, hints, terms

TOPICS_SHOWN = 50  # on one page
_KEYS = ("cluster", "group", "is")

TopicSort = Literal["name", "groups", "partitions", "produced", "consumed", "lag"]
_MEASURES: dict[str, Callable[[TopicView], float | None]] = {
    "groups": lambda view: len(view.groups),
    "partitions": lambda view: view.partition_count,
    "produced": lambda view: view.produce_rate,
    "consumed": lambda view: view.consume_rate,
    "lag": lambda view: view.max_lag,
}


@dataclass(frozen=True)
class TopicListView(ListView):
    """Which topics are asked for."""

    path = "/topics"
    falling = frozenset(_MEASURES)

    sort: TopicSort = "name"


class TopicList(NamedTuple):
    """`problems`: sentences about what was, or may have been, not understood."""

    page: Paged[TopicView]
    problems: list[str]


def topic_list(views: Sequence[TopicView], asked: TopicListView) -> TopicList:
    """`views`: by cluster and name."""
    wanted = terms(asked.q, _KEYS)
    problems = ["is: is unread." for term in wanted if term.key == "is" and term.value != "unread"]
    found = [view for view in views if all(_finds(term, view) for term in wanted)]
    if problems:
        found = []
    problems += hints(wanted, _KEYS, lambda term: any(_finds(term, view) for view in views))
    return TopicList(paged(_sorted(found, asked), asked.page, TOPICS_SHOWN), problems)


def _finds(term: Term, view: TopicView) -> bool:
    """Words are parts of its cluster and name; `cluster:`, `group:` of those, `is:unread`."""
    if term.key == "is":
        found = not view.groups
    elif term.key == "cluster":
        found = term.fits(view.cluster)
    elif term.key == "group":
        found = term.fits(*view.groups)
    else:
        found = term.fits(f"{view.cluster}/{view.topic}")
    return found != term.is_excluded


def _sorted(views: list[TopicView], asked: TopicListView) -> list[TopicView]:
    """What is unknown comes last."""
    if asked.sort == "name":
        return sorted(views, key=_name, reverse=asked.is_falling)
    measure = _MEASURES[asked.sort]
    measured = [(measure(view), view) for view in sorted(views, key=_name)]
    known = [(value, view) for value, view in measured if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=asked.is_falling)
    return [view for _, view in known] + [view for value, view in measured if value is None]


def _name(view: TopicView) -> tuple[str, str]:
    return view.topic.casefold(), view.cluster
