"""What docs/metrics.md says of pushes."""

from __future__ import annotations

_BEFORE = """## Pushed instead of scraped

`api.push` sends the same families, labels and values to receivers that do not scrape, every
`interval` seconds; an address turns each on ([settings](settings.md)). `detail` and `origins` may
be others than those of `/metrics`.

```toml
[api.push.otlp]                       # an OpenTelemetry collector, Prometheus, …; extra `otlp`
endpoint = "http://collector:4318"

[api.push.influxdb]                   # extra `influxdb`
url = "http://influxdb:8086"          # InfluxDB 1, database `warren`; of 2 and newer:
# bucket = "kafka"
# org = "example"
# token_file = "/run/secrets/influxdb"

[api.push.graphite]
address = "carbon:2003"
```
"""
_ROWS = {
    "OTLP": "a gauge, cumulative sum or histogram under the same name, labels as attributes, "
    "units as the name says (`s`, `By`, `ms`), starts of counters; resource "
    "`service.name=warren`, `service.instance.id` the host, and `labels`",
    "InfluxDB": "measurement: the sample's name; tags: its labels; a field `value`. Backslashes "
    "and control characters of labels are written `%5C`, as in URLs: the line protocol cannot "
    "have them",
    "Graphite": "`name;label=value` (`tags = false`: `name.label.value`, labels by name). Of "
    "labels only letters, digits, `_` and `-` are kept, 200 characters at most; what was changed "
    "so ends in a hash of the whole, so that no two are one series. Topics' dots are `_` "
    "without one",
}
_AFTER = """
Several copies of the api push the same series of groups. OTLP tells them apart by
`service.instance.id`; to the others give `labels` (`instance = "a"`), else the copies write over
each other: the same figures, but for the api's own.

A push has one moment for all its samples (Graphite: each request has) and goes out in requests
of `batch` samples. What is not answered (5xx, 408, 429, no connection, nothing within
`timeout`) is tried again with growing pauses, or as `Retry-After` says, until the next push is
due; what is refused is not, and redirects are not followed. Samples that were not taken are not
sent later. A push that is due while one goes on follows it at once. At its end the api pushes
once more, for 5 s at most. The log says when a receiver's state changes, once;
`warren_api_pushes_total`, `warren_api_push_samples_total` and
`warren_api_push_success_timestamp_seconds` say it all the time
([alert](alerts.md#warrenpushfails)).
"""

PUSHED = "\n".join(
    [
        _BEFORE,
        "| receiver | a series there |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in _ROWS.items()),
        _AFTER,
    ]
)
