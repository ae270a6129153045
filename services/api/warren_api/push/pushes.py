"""The receivers that settings name, each with its pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from socket import gethostname

from warren.errors import SettingsError
from warren.redaction import Redaction
from warren.settings import ApiSettings
from warren.settings.push import ReceiverSettings
from warren.settings.secrets import secret_values

from warren_api.context import ApiContext
from warren_api.metrics.extent import Extents
from warren_api.push.batches import Batch, batches
from warren_api.push.graphite import GraphiteReceiver
from warren_api.push.pusher import Pusher
from warren_api.push.receiver import Receiver
from warren_api.push.wire import Wire


class Pushes:
    """All of them. Nothing is done where no receiver is named."""

    def __init__(self, pushers: Sequence[Pusher]) -> None:
        self.pushers = pushers

    def start(self) -> None:
        for pusher in self.pushers:
            pusher.start()

    def stop(self) -> None:
        """A last push to each, all at a time; within some seconds. Blocks."""
        for pusher in self.pushers:
            pusher.stop()
        for pusher in self.pushers:
            pusher.join()


def configured(context: ApiContext) -> Pushes:
    """Raises SettingsError where a library is missing for what settings ask for."""
    settings = context.settings.api
    redaction = Redaction(secret_values(settings.push))
    found: list[tuple[str, str, Receiver, ReceiverSettings]] = []
    push = settings.push
    if push.otlp.endpoint:
        found.append(("otlp", push.otlp.endpoint, _otlp(context), push.otlp))
    if push.influxdb.url:
        found.append(("influxdb", push.influxdb.url, _influxdb(settings), push.influxdb))
    if address := push.graphite.address:
        found.append(("graphite", address, GraphiteReceiver(push.graphite), push.graphite))
    return Pushes(
        [
            Pusher(name, where, receiver, of, _source(context, of), context.clock, redaction)
            for name, where, receiver, of in found
        ]
    )


def _source(context: ApiContext, settings: ReceiverSettings) -> Callable[[], Iterator[Batch]]:
    """What /metrics would serve with the receiver's detail and origins."""
    api = context.settings.api
    asked = {
        "metrics_detail": settings.detail or api.metrics_detail,
        "metrics_origins": api.metrics_origins if settings.origins is None else settings.origins,
    }
    extents = Extents(api.model_copy(update=asked), is_told=False)

    def collect() -> Iterator[Batch]:
        extent = extents.of(context.model.size().partitions)
        labels = {} if settings is api.push.otlp else settings.labels  # they are its resource's
        return batches(context, extent, settings.batch, labels)

    return collect


def _otlp(context: ApiContext) -> Receiver:
    settings = context.settings.api.push.otlp
    resource = {
        "service.name": "warren",
        "service.instance.id": gethostname(),
        "service.version": version("warren-api"),
        **settings.labels,
    }
    try:
        from warren_api.push.otlp import OtlpReceiver  # an extra, which few need
    except ModuleNotFoundError as error:
        raise _missing("otlp", "endpoint", error) from None
    return OtlpReceiver(settings, Wire(settings, "api.push.otlp"), resource, context.clock.now_ms())


def _influxdb(api: ApiSettings) -> Receiver:
    settings = api.push.influxdb
    try:
        from warren_api.push.influxdb import InfluxDbReceiver  # an extra, which few need
    except ModuleNotFoundError as error:
        raise _missing("influxdb", "url", error) from None
    return InfluxDbReceiver(settings, Wire(settings, "api.push.influxdb"))


def _missing(extra: str, setting: str, error: ModuleNotFoundError) -> SettingsError:
    return SettingsError(
        f"api.push.{extra}.{setting}",
        f"the library {error.name} is missing: install warren-api[{extra}]",
    )
