"""Metrics of the api."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.metrics.family import DURATIONS

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
API_CONNECTIONS = Gauge("warren_api_connections", "Open connections of clients", registry=API)
API_CONNECTIONS_CLOSED = Counter(
    "warren_api_connections_closed",
    "Connections closed on clients: slow_head, slow_body, slow_reader, crowded_out (by a newer "
    "one, at api.connections), malformed",
    ("reason",),
    registry=API,
)
API_TOKENS_REFUSED = Counter(
    "warren_api_tokens_refused",
    "Requests with a token that api.tokens does not know: somebody guesses, or a client has an old "
    "one; the log names addresses",
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
API_STALLED = Gauge(
    "warren_api_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=API,
)
API_METRICS_REDUCED = Gauge(
    "warren_api_metrics_reduced",
    "1 while /metrics leaves series out by default (api.metrics_partitions), else 0",
    registry=API,
)
