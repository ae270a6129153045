"""Topics of Warren's for notifiers alone: what is published there, who runs, what is audited."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

from support.service_process import WITHIN, ServiceProcess, running_service
from support.topic_values import values
from warren.contracts import (
    EVENT_TYPES,
    INCIDENTS,
    NOTIFICATIONS,
    NOTIFIER_STATE,
    BadPartition,
    GroupIncidentEvent,
    GroupStatusName,
    MaxLag,
    NotificationEvent,
    NotifierState,
    StatusChange,
    StatusChangeEvent,
    group_key,
)
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings
from warren_core.group_incident import fold

SECRET = "whsec_d2FycmVuLWJlbmNobWFyay1zZWNyZXQtb25seQ=="
PARTITIONS = 8


def change(
    group: str, incident: int, status: GroupStatusName, number: int, opened_at: int
) -> StatusChangeEvent:
    """A change as evaluators publish it, happening now."""
    bad = BadPartition(
        topic="orders",
        partition=3,
        status="STOP",
        lag=1200,
        committed=1000,
        log_end=2200,
        committed_at=opened_at,
        explanation="no commit for 2 m while 1,200 records wait",
    )
    now = time.time()
    is_bad = status in ("WARN", "ERR")
    return StatusChangeEvent(
        id=f"{group}-{incident}-{number}",
        source="/warren/clusters/prod",
        subject=group,
        time=datetime.fromtimestamp(now, UTC),
        data=StatusChange(
            cluster="prod",
            group=group,
            status=status,
            previous="OK" if is_bad else "ERR",
            incident_id=f"{group}-{incident}",
            opened_at=opened_at,
            total_lag=1200 if is_bad else 0,
            max_lag=MaxLag(topic="orders", partition=3, lag=1200) if is_bad else None,
            partition_counts={"STOP": 1, "OK": 11} if is_bad else {"OK": 12},
            partitions=[bad] if is_bad else [],
        ),
    )


def condition(event: StatusChangeEvent) -> StatusChangeEvent:
    """The same of a group that has three: `group-7` is the second condition of `group-2`."""
    name, _, number = event.data.group.rpartition("-")
    group, kind = divmod(int(number), len(EVENT_TYPES))
    data = event.data.model_copy(update={"group": f"{name}-{group}"})
    return event.model_copy(update={"type": EVENT_TYPES[kind], "subject": data.group, "data": data})


@dataclass(slots=True)
class NotifiedHome:
    """`published`: monotonic seconds by event id."""

    bootstrap: str
    name: str
    published: dict[str, float] = field(default_factory=dict)
    _producer: EventProducer = field(init=False, repr=False)
    _incidents: dict[bytes, GroupIncidentEvent] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        ensure_topics(connect("home", "home", self.settings), self.settings)
        # One for all events: to begin one takes half a second, which is not the notifier's.
        self._producer = EventProducer("home", "home", self.settings, delivery_timeout=WITHIN)

    @property
    def settings(self) -> HomeSettings:
        return HomeSettings(bootstrap=self.bootstrap, instance=self.name, partitions=PARTITIONS)

    def publish(self, events: Iterable[StatusChangeEvent]) -> None:
        """The incidents of status changes. Acknowledged when this returns; while the broker is away
        it waits.
        """
        for event in events:
            key = group_key(event.data.cluster, event.data.group)
            found = fold(self._incidents.get(key), event)
            if found is None:
                continue
            self._incidents[key] = found
            self.published[event.id] = time.monotonic()
            topic = self._topic(INCIDENTS.name)
            self._producer.send(topic, key, found.to_bytes(), found.headers)
        self._producer.flush()

    def audit(self) -> list[NotificationEvent]:
        found = values(self.bootstrap, self._topic(NOTIFICATIONS.name))
        return [NotificationEvent.model_validate(one) for one in found]

    def states(self) -> list[NotifierState]:
        """What compaction will leave."""
        newest: dict[bytes, bytes | None] = {}
        reader = TopicReader("home", "home", self.settings, [self._topic(NOTIFIER_STATE.name)])
        try:
            while not reader.caught_up:
                for record in reader.poll(0.2):
                    newest[record.key() or b""] = record.value()
        finally:
            reader.close()
        return [NotifierState.from_bytes(value) for value in newest.values() if value is not None]

    def config(self, notifier: str) -> str:
        """A warren.toml; `notifier` goes into its section, tables last."""
        return f"""
[home]
bootstrap = "{self.bootstrap}"
instance = "{self.name}"
partitions = {PARTITIONS}

[notifier]
allow_networks = ["127.0.0.0/8"]
{notifier}
"""

    def _topic(self, name: str) -> str:
        return self.settings.topic_prefix + name


def webhook(name: str, url: str, **more: object) -> str:
    extra = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    return f"""
[notifier.channels.{name}]
type = "webhook"
url = "{url}"
secret = "{SECRET}"
{extra}"""


def chat(kind: str, url: str) -> str:
    """A channel for people, called by its kind: `slack` or `teams`."""
    return f"""
[notifier.channels.{kind}]
type = "{kind}"
url = "{url}"
"""


def email(name: str, port: int) -> str:
    return f"""
[notifier.channels.{name}]
type = "email"
host = "127.0.0.1"
port = {port}
tls = "none"
sender = "warren@example.org"
to = ["oncall@example.org"]
"""


def route(name: str, channels: Iterable[str], **more: object) -> str:
    extra = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    return f"""
[[notifier.routes]]
name = "{name}"
channels = {list(channels)}
continue_matching = true
{extra}"""


class Notifiers:
    """Some notifiers with the same settings; they end with `closing`."""

    def __init__(self, config: str, count: int, closing: ExitStack) -> None:
        self.kills = self.freezes = 0
        self._frozen: list[int] = []
        self._config = config
        self._closing = closing
        self.running = [self._start() for _ in range(count)]
        for one in self.running:
            one.until(one.is_ready, "the notifier is ready")

    def kill(self) -> None:
        """The one that runs for longest; another one takes its place."""
        os.kill(self.running.pop(0).pid, signal.SIGKILL)
        self.running.append(self._start())
        self.kills += 1

    def freeze(self) -> None:
        """The one that runs for shortest, until `wake`: the group gives its partitions away."""
        self._frozen.append(self.running[-1].pid)
        os.kill(self._frozen[-1], signal.SIGSTOP)
        self.freezes += 1

    def wake(self) -> None:
        """All that are frozen; one may have been killed meanwhile."""
        while self._frozen:
            os.kill(self._frozen.pop(), signal.SIGCONT)

    def total(self, series: str) -> float:
        return sum(one.total(series) for one in self.running)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        self.running[0].until(condition, what)

    def _start(self) -> ServiceProcess:
        return self._closing.enter_context(running_service("notifier", self._config))
