"""Metrics of the api."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from warren.metrics.buckets import DURATIONS

API = CollectorRegistry()

API_REQUESTS = Counter(
    "warren_api_requests",
    "HTTP requests answered, by route, method and status code",
    ("route", "method", "code"),
    registry=API,
)
API_REQUEST_SECONDS = Histogram(
    "warren_api_request_seconds",
    "Seconds until an HTTP request was answered",
    ("route",),
    buckets=DURATIONS,
    registry=API,
)
API_EVENTS_APPLIED = Counter(
    "warren_api_events_applied",
    "Events taken into the read model; while catching up only the newest per group",
    ("topic",),
    registry=API,
)
API_EVENTS_REFUSED = Counter(
    "warren_api_events_refused",
    "Events that contradict their contract and were ignored",
    ("topic",),
    registry=API,
)
