"""Burrow's DELETE: a group, or a topic of it, is forgotten until it commits again.

Nothing happens on the monitored cluster. The evaluator is asked; it tells every api.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog
from fastapi import APIRouter, Request, Response
from warren.errors import KafkaError

from warren_api.burrow.answers import ADMIN, answer, error_response
from warren_api.context import ApiContext
from warren_api.http.raw_path import Segment

log = structlog.get_logger(__name__)

EFFECT_SECONDS = 3.0  # at most, until the answer: then the next request shows it already
LOOK_SECONDS = 0.02


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/v3/kafka/{cluster}/consumer/{group}", include_in_schema=False)

    @routes.delete("", tags=[ADMIN])
    async def delete_group(request: Request, cluster: Segment, group: Segment) -> Response:
        return await _delete(request, cluster, group, [])

    @routes.delete("/topic/{topic}", tags=[ADMIN])
    async def delete_topic(
        request: Request, cluster: Segment, group: Segment, topic: Segment
    ) -> Response:
        return await _delete(request, cluster, group, [topic])

    async def _delete(request: Request, cluster: str, group: str, topics: list[str]) -> Response:
        if not context.feed_state().ready:
            return error_response(request, 503, "starting: which groups there are is not known yet")
        try:
            await _forget(context, cluster, group, topics)
        except KafkaError as error:
            log.warning("group not removed", cluster=cluster, group=group, problem=str(error))
            return error_response(request, 503, f"consumer group not removed: {error}")
        return answer(request, "consumer group removed")

    return routes


async def _forget(context: ApiContext, cluster: str, group: str, topics: list[str]) -> None:
    """Nothing to do for what is not known, as in Burrow."""
    view = context.model.group(cluster, group)
    if view is None or not _has(context, cluster, group, topics):
        return
    until = max(context.clock.now_ms(), view.event.evaluated_at)
    await asyncio.to_thread(context.forget, cluster, group, topics, until)
    log.info("group removed until its next commit", cluster=cluster, group=group, topics=topics)
    with suppress(TimeoutError):
        async with asyncio.timeout(EFFECT_SECONDS):
            while _has(context, cluster, group, topics):
                await asyncio.sleep(LOOK_SECONDS)


def _has(context: ApiContext, cluster: str, group: str, topics: list[str]) -> bool:
    view = context.model.group(cluster, group)
    return view is not None and all(topic in view.event.topics for topic in topics)
