"""Answers as Burrow 1.9.5 gives them, byte for byte: what all bodies have in common, lists and
errors.

Names, types, messages and key order: linkedin/Burrow, core/internal/httpserver/structs.go. JSON is
as Go's encoding/json writes it: compact, not sorted; `<`, `>`, `&`, U+2028 and U+2029 escaped;
float32 with the fewest digits that still mean the same float32.
"""

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse
from starlette.types import Scope

from warren_api.http.errors import Refused
from warren_api.http.names import decoded_path
from warren_api.http.problem import ProblemKind, problem
from warren_api.model import group
from warren_api.model.cluster import ClusterView
from warren_api.model.group import GroupView
from warren_api.model.partitions import Edge, PartitionRow, Slots, burrow_lag, windows

# Inside JSON these characters occur in strings only.
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def go_json(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be UTF-8; Go writes the replacement character for it.
    return text.translate(_ESCAPES).encode("utf-8", "replace")


@lru_cache(maxsize=4096)
def float32(value: float) -> float | int:
    """A number that prints as Go prints the nearest float32: 1 as `1`, 1/3 as `0.33333334`."""
    (nearest,) = struct.unpack("f", struct.pack("f", value))
    if nearest.is_integer():
        return int(nearest)
    # Nine significant digits tell any two float32 apart (IEEE 754).
    candidates = (float(f"{nearest:.{digits}g}") for digits in range(1, 10))
    return next(
        number for number in candidates if struct.pack("f", number) == struct.pack("f", nearest)
    )


Body = dict[str, Any]
ADMIN = "admin"
"""Tag of routes that change something: only administrators may."""
TEXT = "text/plain; charset=utf-8"


def json_response(body: Mapping[str, Any], status_code: int = 200) -> Response:
    return Response(go_json(body), status_code, media_type="application/json")


def error_response(request: Request, status_code: int, message: str) -> Response:
    body = {"error": True, "message": message, "request": _request(request)}
    return json_response(body, status_code)


def answer(
    request: Request, message: str, after: Mapping[str, Any] | None = None, **content: Any
) -> Response:
    """Content stands between the message and the request; `after` behind them."""
    head = {"error": False, "message": message}
    return json_response({**head, **content, "request": _request(request), **(after or {})})


def _request(request: Request) -> Body:
    """The path as the client meant it, that is decoded."""
    return {"url": decoded_path(request.scope), "host": socket.gethostname()}


PREFIX = "/v3/"
UNKNOWN_URL = '{"error":true,"message":"invalid request type","result":{}}\n'


def refusal(
    scope: Scope, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """As plain text where Burrow has no JSON: health checks, metrics, pages."""
    path: str = scope["path"]
    status, title, _ = kind.value
    if not path.startswith(PREFIX):
        return PlainTextResponse(f"{title}. {detail}\n", status, headers)
    answer = error_response(Request(scope), status, detail)
    answer.headers.update(headers or {})
    return answer


def unanswered(
    request: Request,
    status_code: int,
    headers: Mapping[str, str] | None,
    methods: Sequence[str],
) -> Response:
    """405 names every method that the path knows; for OPTIONS that is the answer."""
    if status_code == 405:
        allowed = {"Allow": ", ".join(sorted({*methods, "OPTIONS"}))}
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.OK, headers=allowed)
        return _text_error("Method Not Allowed\n", status_code, allowed)
    phrase = HTTPStatus(status_code).phrase
    body = UNKNOWN_URL if status_code == 404 else f"{phrase}\n"
    return _text_error(body, status_code, headers)


def invalid(_: Request, refused: Sequence[Refused]) -> Response:
    return problem(ProblemKind.INVALID_REQUEST, str(refused[0]))


def failed(request: Request) -> Response:
    return error_response(request, 500, "internal error")


def _text_error(text: str, status_code: int, headers: Mapping[str, str] | None) -> Response:
    """What Go's http.Error sends."""
    return Response(text, status_code, headers, media_type=TEXT)


def cluster_state(view: ClusterView) -> Body:
    """How it stands with the cluster: not Burrow's, our own."""
    return {
        "state": view.state,
        "since": view.since,
        "problem": view.problem,
        "groups": sum(event.groups for event in view.events),
        "positions": sum(event.positions for event in view.events),
        "backlog": sum(event.backlog for event in view.events),
        "log_ends_at": view.log_ends_at,
        "collectors": [
            event.model_dump(exclude={"v", "cluster"}, mode="json") for event in view.events
        ],
    }


def group_status(view: GroupView, *, all_partitions: bool) -> Body:
    """A group's status with all of its partitions, or only with those that are not OK."""
    partitions = (
        row
        for row in view.partitions
        if all_partitions or group.partition_status(row.status, row.reason) != "OK"
    )
    return {
        "cluster": view.cluster,
        "group": view.group,
        "status": group.group_status(view),
        "complete": float32(view.event.complete),
        "partitions": [_partition(row) for row in partitions],
        "partition_count": view.partition_count,
        "maxlag": _partition(view.burrow_max_lag) if view.burrow_max_lag else None,
        "totallag": view.burrow_total_lag,
    }


def group_not_found(cluster: str, group: str) -> Body:
    return {
        "cluster": cluster,
        "group": group,
        "status": "NOTFOUND",
        "complete": float32(1.0),
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }


def group_detail(view: GroupView) -> Body:
    """Topics, each a list with one entry per partition: the index is the partition's number."""
    found = windows(view.event)
    topics: Body = {}
    for row in view.partitions:
        entries = topics.setdefault(row.topic, [])
        entries += [_window([], None) for _ in range(len(entries), row.partition)]
        entries.append(_window(found[row.topic][row.partition], row))
    return topics


def _partition(row: PartitionRow) -> Body:
    return {
        "topic": row.topic,
        "partition": row.partition,
        **_owner(row),
        "status": group.partition_status(row.status, row.reason),
        "start": _offset(row.start),
        "end": _offset(row.end),
        "current_lag": burrow_lag(row),
        "complete": float32(row.complete),
    }


def _window(slots: Slots, row: PartitionRow | None) -> Body:
    return {
        "offsets": [_offset(slot) for slot in slots],
        **_owner(row),
        "current-lag": burrow_lag(row) if row else 0,
    }


def _owner(row: PartitionRow | None) -> Body:
    """The host and client id of the member that has the partition; empty where nobody has."""
    member = row.owner if row else None
    return {
        "owner": member.host if member else "",
        "client_id": member.client_id if member else "",
    }


def _offset(edge: Edge | None) -> Body | None:
    if edge is None:
        return None
    return {
        "offset": edge.offset,
        "timestamp": edge.at,
        "observedAt": edge.observed_at,
        "lag": edge.lag,
    }
