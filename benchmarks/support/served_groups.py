"""The API as a process of its own, over groups that need no Kafka."""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
from warren.clock import SystemClock
from warren.contracts import MINUTE_MS, FreshnessEvent, LagEvent, TrendEvent, group_key
from warren.garbage import collect_seldom
from warren.settings import Settings
from warren_api.context import ApiContext
from warren_api.home.cluster import HomeWriter
from warren_api.http.access import Access
from warren_api.http.serving import HttpServer
from warren_api.model.archive import Archive
from warren_api.model.cluster import FeedState
from warren_api.model.past import DAY, Past
from warren_api.model.read_model import ReadModel
from warren_api.server import create_app, listen
from warren_local.server import free_port

CLUSTER = "bench"
WHOLE_DAYS = 10  # groups
_OF_A_PROCESS = 2  # in the number of a clock: all that it has taken, in user and in kernel mode
_STATUSES = ("OK", "OK", "OK", "OK", "OK", "OK", "OK", "WARN", "STOP", "STALL")
_READY_SECONDS = 600.0  # a day of many groups takes minutes to be read
_BEGAN = round(time.time() * 1000) - 60_000


@dataclass(frozen=True, slots=True)
class GroupLoad:
    """`groups` groups of one topic each with `partitions` partitions; each is judged and measured
    again every `interval` seconds, one after the other. One of `one_in` is in trouble, or all.
    With `past_minutes` each has a past as long: a minute takes as much memory as a day.
    """

    groups: int
    partitions: int
    interval: float
    one_in: int = 1
    past_minutes: int = 0

    def name(self, number: int) -> str:
        return f"service-{number:05}"

    def apply(self, model: ReadModel, number: int, round_: int) -> None:
        """The events of one group, as they would come from the topics."""
        group, now = self.name(number), round(time.time() * 1000)
        key = group_key(CLUSTER, group)
        topic = f"orders-{number % 97:02}"
        is_bad = number % self.one_in == 0
        model.apply(key, self._judged(group, topic, now, round_, is_bad).to_bytes())
        model.apply_freshness(key, self._measured(group, topic, now, round_).to_bytes())

    def remember(self, past: Past, number: int) -> None:
        """The past of one group, minute by minute up to now; the first ones have a whole day."""
        group, topic = self.name(number), f"orders-{number % 97:02}"
        key, now = group_key(CLUSTER, group), round(time.time() * 1000)
        minutes = DAY if number < WHOLE_DAYS and self.past_minutes else self.past_minutes
        for ago in range(minutes, 0, -1):
            minute = now - now % MINUTE_MS - ago * MINUTE_MS
            past.apply(key, _minute(group, topic, minute, ago).to_bytes())

    def _judged(self, group: str, topic: str, now: int, round_: int, is_bad: bool) -> LagEvent:
        count, statuses = self.partitions, _STATUSES if is_bad else ("OK",)
        lags = [(partition * 37 + round_) % 5000 for partition in range(count)]
        ends = [1_000_000 + partition * 1000 + round_ * 50 for partition in range(count)]
        committed = [end - lag for end, lag in zip(ends, lags, strict=True)]
        edge = {"at": [now] * count, "observed_at": [now] * count, "lag": lags}
        return LagEvent.model_validate(
            {
                "cluster": CLUSTER,
                "group": group,
                "evaluated_at": now,
                "status": "ERR" if is_bad else "OK",
                "complete": 1.0,
                "policy": "burrow",
                "total_lag": sum(lags),
                "incident": {"id": group, "opened_at": _BEGAN} if is_bad else None,
                "topics": {
                    topic: {
                        "partition": list(range(count)),
                        "status": [statuses[p % len(statuses)] for p in range(count)],
                        "committed": committed,
                        "committed_at": [now] * count,
                        "log_start": [0] * count,
                        "log_end": ends,
                        "lag": lags,
                        "complete": [1.0] * count,
                        "window_start": {"offset": [offset - 9 for offset in committed], **edge},
                        "window_end": {"offset": committed, **edge},
                    }
                },
            }
        )

    def _measured(self, group: str, topic: str, now: int, round_: int) -> FreshnessEvent:
        count = self.partitions
        late = [(partition * 61 + round_ * 7) % 90_000 for partition in range(count)]
        return FreshnessEvent.model_validate(
            {
                "cluster": CLUSTER,
                "group": group,
                "measured_at": now,
                "observed_at": now,
                "freshness_ms": max(late),
                "lost_records": 0,
                "time_to_loss_ms": 3_600_000,
                "topics": {
                    topic: {
                        "partition": list(range(count)),
                        "committed": [0] * count,
                        "freshness_ms": late,
                        "reason": ["exact"] * count,
                        "bound_ms": [0] * count,
                        "lost_records": [0] * count,
                        "time_to_loss_ms": [3_600_000 + age for age in late],
                        "oldest_at": [now - age for age in late],
                        "commit_lag_ms": late,
                        "append_lag_ms": late,
                    }
                },
            }
        )


def _minute(group: str, topic: str, minute: int, ago: int) -> TrendEvent:
    return TrendEvent.model_validate(
        {
            "cluster": CLUSTER,
            "group": group,
            "minute": minute,
            "status_ms": {"OK": 60_000},
            "lag": ago * 7,
            "lag_max": ago * 9,
            "late_ms": ago * 11,
            "time_to_loss_ms": 3_600_000,
            "produced": 6_000,
            "consumed": 6_000,
            "members": 3,
            "rebalances": 0,
            "topics": {
                "topic": [topic],
                "lag": [ago * 9],
                "produced": [6_000],
                "consumed": [6_000],
                "late_ms": [ago * 11],
            },
        }
    )


@dataclass(frozen=True, slots=True)
class ServedApi:
    """Where it listens; its process and the thread in it that feeds it, for measuring (Linux)."""

    url: str
    pid: int
    feeder: int = 0

    @property
    def fed_s(self) -> float:
        """Seconds of CPU that groups have taken, which are judged and measured again."""
        words = Path(f"/proc/{self.pid}/task/{self.feeder}/schedstat").read_text().split()
        return int(words[0]) / 1e9

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that all else has taken."""
        return time.clock_gettime((~self.pid << 3) | _OF_A_PROCESS) - self.fed_s


@contextmanager
def served(load: GroupLoad, api: dict[str, object] | None = None) -> Iterator[ServedApi]:
    """The API with all groups in it, fed all the time, until the end of the block; `api`: settings
    of that section.
    """
    port, spawning = free_port(), multiprocessing.get_context("spawn")
    feeder = spawning.Value("q", 0)
    process = spawning.Process(target=_serve, args=(load, port, api or {}, feeder))
    process.start()
    running = ServedApi(f"http://127.0.0.1:{port}", process.pid or 0)
    try:
        _wait_until_ready(running, process)
        yield replace(running, feeder=feeder.value)
    finally:
        process.terminate()
        process.join()


def _wait_until_ready(api: ServedApi, process: Any) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.is_alive():
        try:
            if httpx.get(f"{api.url}/burrow/admin/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit("the API did not become ready")


def _serve(load: GroupLoad, port: int, api: dict[str, object], feeder: Any) -> None:
    settings, clock = Settings.model_validate({"api": {"port": port, **api}}), SystemClock()
    model = ReadModel()
    collect_seldom()
    for number in range(load.groups):
        load.apply(model, number, 0)
        load.remember(model.past, number)
    feeding = threading.Thread(target=_feed, args=(load, model), daemon=True)
    feeding.start()
    feeder.value = feeding.native_id
    state = FeedState(ready=True, problem=None)
    context = ApiContext(
        settings,
        model,
        lambda: state,
        clock,
        HomeWriter(settings.home).write,
        Archive(settings.archiver),
    )
    app = create_app(context, Access(settings.api, is_loopback=True))
    with listen(settings.api) as listener:
        HttpServer(app, settings.api).run([listener])


def _feed(load: GroupLoad, model: ReadModel) -> None:
    began, done = time.monotonic(), 0
    while True:
        load.apply(model, done % load.groups, done // load.groups + 1)
        done += 1
        time.sleep(max(began + done * load.interval / load.groups - time.monotonic(), 0))
