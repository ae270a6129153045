"""What docs/metrics.md says of pushes."""

PUSHED = """## Pushed instead of scraped

The api also pushes the same families, labels and values by OTLP over HTTP (`http/protobuf`): to an
OpenTelemetry collector, Prometheus, or what else takes it. It needs the extra `warren-api[otlp]`.
OpenTelemetry's own environment variables configure it; an endpoint turns it on.

```sh
OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318      # /v1/metrics is added
OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20…"  # never logged
OTEL_METRIC_EXPORT_INTERVAL=60000                      # milliseconds between pushes
OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=prod
```

* `OTEL_EXPORTER_OTLP_METRICS_…`: instead of `OTEL_EXPORTER_OTLP_…`, for metrics alone
* `OTEL_EXPORTER_OTLP_TIMEOUT`: seconds that a request and its further attempts may take; 10
* `OTEL_EXPORTER_OTLP_COMPRESSION`: `gzip` (the default here), `deflate` or `none`
* `OTEL_EXPORTER_OTLP_CERTIFICATE`, `…_CLIENT_CERTIFICATE`, `…_CLIENT_KEY`: PEM files for TLS
* `OTEL_SERVICE_NAME`: instead of `warren`
* `OTEL_SDK_DISABLED=true`, `OTEL_METRICS_EXPORTER=none`: nothing is pushed

Of Prometheus the endpoint is `http://prometheus:9090/api/v1/otlp`. For InfluxDB, Graphite and
others, let Telegraf or an OpenTelemetry collector scrape `/metrics`.

A metric is a gauge, cumulative sum or histogram under the same name, with labels as attributes,
units as the name says (`s`, `By`, `ms`) and starts of counters. The resource is
`service.name=warren`, `service.version`, and `service.instance.id`, the host, which tells several
copies of the api apart.

A push has one moment for all its samples and goes out in requests of 5,000. The exporter tries
again after 429, 502, 503, 504 and broken connections, within the timeout; redirects are not
followed. A push ends at the first request that fails: its samples are not sent later, the next
push has what is then. At its end the api pushes once more, for 5 s at most. The log has trouble
every 5 minutes, and its end; `warren_api_pushes_total`, `warren_api_push_samples_total` and
`warren_api_push_success_timestamp_seconds` say it all the time
([alert](alerts.md#warrenpushfails)).
"""
