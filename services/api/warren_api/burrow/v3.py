"""Burrow's HTTP API, version 3, as Burrow 1.9.5 answers: clusters, topics and consumer groups.

Unlike Burrow, group names with `/` work when percent-encoded. DELETE forgets a group, or a topic of
it, until it commits again: nothing happens on the monitored cluster. The evaluator is asked; it
tells every api.
"""

import asyncio

import structlog
from fastapi import APIRouter, Request, Response
from warren.contracts import OffsetEvent, group_key
from warren.contracts.topics import OFFSETS
from warren.errors import KafkaError

from warren_api.burrow import answers as shapes
from warren_api.burrow.answers import ADMIN, answer, error_response
from warren_api.burrow.config import cluster_detail
from warren_api.context import ApiContext
from warren_api.http.names import Segment
from warren_api.writing import shown

CLUSTER_NOT_FOUND = "cluster not found"


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/v3/kafka", include_in_schema=False)
    _deletions(routes, context)

    @routes.get("")
    async def clusters(request: Request) -> Response:
        return answer(request, "cluster list returned", clusters=context.clusters)

    @routes.get("/{cluster}")
    async def cluster(request: Request, cluster: Segment) -> Response:
        view = context.model.cluster(cluster, context.clock.now_ms())
        return cluster_detail(request, context, cluster, state=shapes.cluster_state(view))

    @routes.get("/{cluster}/topic")
    def topics(request: Request, cluster: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        names = context.model.topics.names(cluster)
        return answer(request, "topic list returned", topics=names)

    @routes.get("/{cluster}/topic/{topic}")
    def topic(request: Request, cluster: Segment, topic: Segment) -> Response:
        view = context.model.topics.topic(cluster, topic)
        if view is None:
            return error_response(request, 404, "cluster or topic not found")
        return answer(request, "topic offsets returned", offsets=view.log_ends())

    @routes.get("/{cluster}/topic/{topic}/consumers")
    def topic_consumers(request: Request, cluster: Segment, topic: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        view = context.model.topics.topic(cluster, topic)
        groups = sorted(view.groups) if view else []
        return answer(request, "consumers of topic returned", consumers=groups)

    @routes.get("/{cluster}/consumer")
    def consumers(request: Request, cluster: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        groups = context.model.groups_of(cluster)
        return answer(request, "consumer list returned", consumers=groups)

    @routes.get("/{cluster}/consumer/{group}")
    def consumer(request: Request, cluster: Segment, group: Segment) -> Response:
        view = context.model.group(cluster, group)
        if view is None:
            return error_response(request, 404, "cluster or consumer not found")
        return answer(request, "consumer detail returned", topics=shapes.group_detail(view))

    @routes.get("/{cluster}/consumer/{group}/status")
    def status(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=False)

    @routes.get("/{cluster}/consumer/{group}/lag")
    def lag(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=True)

    def _status(request: Request, cluster: str, group: str, *, all_partitions: bool) -> Response:
        """A group that is not found is a status, not an error."""
        view = context.model.group(cluster, group)
        found = (
            shapes.group_status(view, all_partitions=all_partitions)
            if view
            else shapes.group_not_found(cluster, group)
        )
        response = answer(request, "consumer status returned", status=found)
        response.status_code = 200 if view else 404
        return response

    return routes


log = structlog.get_logger(__name__)


def _deletions(routes: APIRouter, context: ApiContext) -> None:
    @routes.delete("/{cluster}/consumer/{group}", tags=[ADMIN])
    async def delete_group(request: Request, cluster: Segment, group: Segment) -> Response:
        return await _delete(request, cluster, group, [])

    @routes.delete("/{cluster}/consumer/{group}/topic/{topic}", tags=[ADMIN])
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


async def _forget(context: ApiContext, cluster: str, group: str, topics: list[str]) -> None:
    """Nothing to do for what is not known, as in Burrow."""
    view = context.model.group(cluster, group)
    if view is None or not _has(context, cluster, group, topics):
        return
    until = max(context.clock.now_ms(), view.event.evaluated_at)
    # Of no position: whoever else reads the topic takes it for older than what it knows.
    deletion = OffsetEvent(
        cluster=cluster,
        group=group,
        source="offsets_topic",
        observed_at=until,
        position=-1,
        forget=topics,
    )
    key = group_key(cluster, group)
    await asyncio.to_thread(context.write, OFFSETS, key, deletion.to_bytes())
    log.info("group removed until its next commit", cluster=cluster, group=group, topics=topics)
    await shown(lambda: not _has(context, cluster, group, topics))


def _has(context: ApiContext, cluster: str, group: str, topics: list[str]) -> bool:
    view = context.model.group(cluster, group)
    return view is not None and all(topic in view.event.topics for topic in topics)
