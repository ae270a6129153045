"""Whatever the API does not know: the terminal leaves it out, or says so; it never says `None`."""

import copy
import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from cli.api_bodies import PENDING, SILENCE, TOLD
from pydantic import BaseModel
from rich.console import Console, RenderableType
from warren_api.v1.group_bodies import GroupDetail, GroupSummary
from warren_api.v1.incidents import IncidentView
from warren_api.v1.notifications import NotificationView, PendingView, SilenceView
from warren_api.v1.topics import ClusterSummary, TopicDetail, TopicSummary
from warren_cli.commands.up import change_line
from warren_cli.resources import catalogue, descriptions
from warren_cli.resources.catalogue import Resource
from warren_cli.resources.output import NONE, resource_table

from cli import api_bodies

NOW = 1_795_244_460_000
SAID = re.compile(r"\b(None|null|nan|NaN|undefined)\b")
Path = tuple[str | int, ...]
Body = dict[str, Any]


def nullable(model: type[BaseModel], body: Any, path: Path = ()) -> Iterator[Path]:
    """Where in a body the API may say null."""
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in body:
            yield from _in(field.annotation, body[key], (*path, key))


def _in(type_: Any, value: Any, path: Path) -> Iterator[Path]:
    kinds = get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)
    if NoneType in kinds:
        yield path
    for kind in kinds:
        if isinstance(value, list) and get_origin(kind) is list:
            for number, each in enumerate(value):
                yield from _in(get_args(kind)[0], each, (*path, number))
        elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from nullable(kind, value, path)


def without(body: Body, *paths: Path) -> Body:
    made = copy.deepcopy(body)
    for path in paths:
        place: Any = made
        for key in path[:-1]:
            place = place[key] if place is not None else None
        if place is not None:
            place[path[-1]] = None
    return made


def shown(what: RenderableType) -> str:
    console = Console(width=400)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def cells(resource: Resource) -> Callable[[Body], str]:
    return lambda row: " | ".join(str(column.cell(row, NOW) or NONE) for column in resource.columns)


def table(*groups: Body) -> str:
    return shown(resource_table(catalogue.STATUS, groups, None, wide=True, now_ms=NOW)[0])


def incident(body: Body) -> str:
    told = {"notifications": [TOLD], "pending": [PENDING]}
    return shown(descriptions.incident({**body, **told}, NOW))


def delivery(name: str) -> Callable[[Body], str]:
    told: Body = {"notifications": [], "pending": []}
    return lambda body: shown(
        descriptions.incident({**api_bodies.INCIDENT, **told, name: [body]}, NOW)
    )


CASES: list[tuple[type[BaseModel], Body, Callable[[Body], str]]] = [
    (GroupDetail, api_bodies.GROUP_DETAIL, lambda body: shown(descriptions.group(body, NOW))),
    (TopicDetail, api_bodies.TOPIC_DETAIL, lambda body: shown(descriptions.topic(body))),
    (IncidentView, api_bodies.INCIDENT, incident),
    (NotificationView, TOLD, delivery("notifications")),
    (PendingView, PENDING, delivery("pending")),
    (GroupSummary, api_bodies.GROUP_SUMMARY, table),
    (GroupSummary, api_bodies.GROUP_SUMMARY, lambda body: change_line(body, None, NOW)),
    (GroupSummary, api_bodies.GROUP_SUMMARY, cells(catalogue.GROUPS)),
    (TopicSummary, api_bodies.TOPIC_DETAIL, cells(catalogue.TOPICS)),
    (ClusterSummary, api_bodies.CLUSTER_SUMMARY, cells(catalogue.CLUSTERS)),
    (IncidentView, api_bodies.INCIDENT, cells(catalogue.INCIDENTS)),
    (SilenceView, SILENCE, cells(catalogue.SILENCES)),
]


@pytest.mark.parametrize(("model", "body", "show"), CASES)
def test_nothing_that_is_unknown_is_said(
    model: type[BaseModel], body: Body, show: Callable[[Body], str]
) -> None:
    for status in {"ERR", "OK", "UNKNOWN"} if "status" in body else {None}:
        given = body if status is None else {**body, "status": status}
        places = list(nullable(model, given))
        assert places or model is SilenceView
        for path in places:
            assert not SAID.search(text := show(without(given, path))), (path, text)
        assert not SAID.search(text := show(without(given, *places[::-1]))), text
