"""Reads `warren.trends`: the past of a day, and on with what comes.

A thread of its own: nobody has to wait for the past to be told of the present.
"""

from __future__ import annotations

import structlog
from warren.clock import Clock
from warren.contracts.topics import DAY_MS, TRENDS
from warren.errors import ContractViolation, KafkaError, SettingsError
from warren.kafka.connection import log_retry
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.metrics import api as metrics
from warren.settings import HomeSettings

from warren_api.home.cluster import HomeThread
from warren_api.home.feed import refuse
from warren_api.model.past import Past

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.5
RETRY_SECONDS = 5.0
TIDY_SECONDS = 3600.0


class PastFeed(HomeThread):
    """The thread."""

    def __init__(self, home: HomeSettings, past: Past, clock: Clock) -> None:
        super().__init__("past")
        self._home = home
        self._past = past
        self._clock = clock
        self._topic = TRENDS.full_name(home.topic_prefix)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except SettingsError:
                return  # the feed of the present says it, and ends the service
            except KafkaError as error:
                log_retry(error)
                self._stop.wait(RETRY_SECONDS)
            except Exception:  # the past never ends what tells of the present
                log.exception("the past cannot be read, beginning again")
                self._stop.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        since = self._clock.now_ms() - DAY_MS
        reader = TopicReader(HOME, HOME, self._home, [self._topic], since=since)
        try:
            self._past.begin_again()
            tidied_at = self._clock.monotonic()
            while not self._stop.is_set():
                for record in reader.poll(POLL_SECONDS):
                    try:
                        self._past.apply(record.key(), record.value())
                        metrics.API_EVENTS_APPLIED.labels(self._topic).inc()
                    except ContractViolation as violation:
                        refuse(record, violation)
                if self._clock.monotonic() - tidied_at >= TIDY_SECONDS:
                    tidied_at = self._clock.monotonic()
                    self._past.forget_before(self._clock.now_ms() - DAY_MS)
        finally:
            reader.close()
