"""Settings that are gone, and what is instead: an upgrade says so by their names."""

from __future__ import annotations

import re

REMOVED = {
    "api.history": "always 10,000 status changes",
    "api.oidc.name_claim": "always preferred_username, email, name or sub",
    "api.push": "OTEL_EXPORTER_OTLP_ENDPOINT pushes by OTLP; others scrape /metrics",
    "collector.event_partitions": "always 5,000",
    "evaluator.batch": "always 100 events",
    "evaluator.batch_within": "always 0.1 s",
    "freshness.cache_entries": "always 200,000",
    "freshness.cache_ttl": "always 600 s",
    "freshness.read_timeout": "always 5 s",
    "freshness.samples": "always 500",
    "local.cloudevents_jars_dir": "local.jars_mirror names a Maven repository",
    "local.kafka_heap": "always 512m",
    "local.zookeeper_jars_dir": "local.jars_mirror names a Maven repository",
    "notifier.channels.*.burst": "always 10 messages",
    "notifier.first_retry": "always 2 s",
    "notifier.longest_retry": "always 60 s",
    "notifier.queue_size": "always 10,000 groups",
    "notifier.session_timeout": "always 10 s",
}
"""By their dotted names, `*` for a channel's. All went after version 0.1.0."""


def removal(name: str) -> str | None:
    """What to say of a setting that was removed; None if it was not."""
    instead = REMOVED.get(re.sub(r"^(notifier\.channels)\.[^.]+", r"\1.*", name))
    return f"this setting was removed after version 0.1.0: {instead}" if instead else None
