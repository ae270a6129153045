"""The service: sessions with the home cluster, one after the other, until a signal comes."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from warren.clock import Clock, SystemClock
from warren.contracts.topics import DEAD_LETTERS, INCIDENTS, NOTIFICATIONS, NOTIFIER_STATE
from warren.errors import KafkaError, SettingsError, TopicMisconfigured
from warren.garbage import collect_seldom
from warren.kafka.connection import Trouble, await_connection, log_retry
from warren.kafka.group_backlog import GroupBacklog
from warren.kafka.topics import HOME, TIMEOUT, ensure_topics, home_error
from warren.metrics import notifier as metrics
from warren.redaction import Redaction
from warren.service import probed, stop_by_signal
from warren.settings import HomeSettings, Settings
from warren.settings.notifier import NotifierSettings
from warren.settings.secrets import secret_values
from warren.standstill import Look, Looking, StandstillWatch, Turns

from warren_notifier.channels.channel import Channel
from warren_notifier.channels.configured import channel_settings, configured_channels
from warren_notifier.session import Session

log = structlog.get_logger(__name__)

TOPICS = (INCIDENTS, NOTIFICATIONS, NOTIFIER_STATE, DEAD_LETTERS)
CONNECT_SECONDS = 3.0
RETRY_SECONDS = 2.0
LOOK_SECONDS = 5.0  # between two looks at the settings
CYCLES = 5_000  # objects; asyncio's connections free themselves only by garbage collection
LOOK_UP_THREADS = 64  # name look-ups; a hanging name server must not delay other channels


class Service:
    """Delivers until `stop` is called."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        load: Callable[[], Settings] | None = None,
        redaction: Redaction | None = None,
    ) -> None:
        """`load` reads the settings again: secrets are renewed while it runs.

        Raises SettingsError for channels that cannot be used.
        """
        self._settings = settings
        self._clock = clock
        self._load = load or (lambda: settings)
        self._redaction = redaction or Redaction(secret_values(settings))
        self._channels = self._made(settings.notifier)
        self._seen, self._refused = settings.notifier, ""
        self.ready = False
        """The consumer group has assigned partitions and their state is there."""
        self._turns = Turns()
        self._trouble = Trouble(HOME, clock, over="at work again")
        self._backlog = GroupBacklog(
            settings.home,
            settings.home.installation.group("notifier", settings.notifier.group_id),
            INCIDENTS.full_name(settings.home.topic_prefix),
        )
        self._stop = asyncio.Event()
        self._stop_threads = threading.Event()
        self._session_over, self._session_ended = asyncio.Event(), asyncio.Event()
        self._session_ended.set()

    def _made(self, settings: NotifierSettings) -> dict[str, Channel]:
        """Channels. What is secret of them is redacted from now on."""
        for channel in channel_settings(settings).values():
            self._redaction.add(secret_values(channel))
        return configured_channels(settings, self._clock)

    @property
    def waits_for(self) -> str:
        """What keeps it from being ready, as far as that is known; empty: it is starting."""
        return self._trouble.look().obstacle

    @property
    def works(self) -> dict[str, Looking]:
        """What must not stand still, by name. Deliveries are none: receivers may be away."""
        return {"session": self._turns.look, "routing": self._routing}

    def _routing(self) -> Look:
        """Of all notifiers: where one of them moves, this one need not. Why the last session ended
        says more than what waits because of it.
        """
        if self._trouble.problem:
            return self._trouble.look()
        backlog = self._backlog.read()
        return Look(sum(backlog.waiting.values()), tuple(sorted(backlog.committed.items())))

    def stop(self) -> None:
        """Ends `run` in an orderly way. Call it in the loop's thread."""
        self._stop.set()
        self._session_over.set()
        self._stop_threads.set()

    async def run(self) -> None:
        """Raises SettingsError, or whatever else trying again cannot mend."""
        asyncio.get_running_loop().set_default_executor(
            ThreadPoolExecutor(LOOK_UP_THREADS, thread_name_prefix="look-up")
        )
        if not self._settings.notifier.routes:
            log.warning("no [[notifier.routes]]: nothing will be delivered")
        watching = asyncio.create_task(self._watch_settings())
        try:
            while not self._stop.is_set():
                self._session_over.clear()
                try:
                    await self._session()
                except* KafkaError as errors:
                    self.ready = False
                    for error in errors.exceptions:
                        log_retry(error)
                        if isinstance(error, KafkaError):
                            self._trouble.note(error)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(RETRY_SECONDS):
                            await self._stop.wait()
        finally:
            watching.cancel()
            for channel in self._channels.values():
                await channel.close()

    async def _watch_settings(self) -> None:
        """Takes `[notifier]` up as it is now, with a session that begins anew: what was refused is
        told again by it. A file may be half written, so it counts once it has stayed the same.
        """
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                found = (await asyncio.to_thread(self._load)).notifier
                seen, self._seen = self._seen, found
                if found != seen or found == self._settings.notifier:
                    continue
                channels, before = self._made(found), self._channels
            except SettingsError as error:
                if str(error) != self._refused:
                    log.error("settings refused, those before stay in force", problem=str(error))
                self._refused = str(error)
                continue
            self._refused = ""
            self._settings = self._settings.model_copy(update={"notifier": found})
            self._channels = channels
            log.info("new settings taken up")
            self._session_over.set()
            await self._session_ended.wait()
            for channel in before.values():
                await channel.close()

    async def _session(self) -> None:
        home = self._settings.home
        admin = await asyncio.to_thread(
            await_connection,
            HOME,
            HOME,
            home,
            self._stop_threads,
            CONNECT_SECONDS,
            self._trouble.note,
        )
        if admin is None:
            return
        if home.create_topics:
            await asyncio.to_thread(ensure_topics, admin, home)
        await asyncio.to_thread(_require_equal_partitions, admin, home)
        self._session_ended.clear()
        session = Session(
            self._settings,
            self._channels,
            self._clock,
            self._session_over,
            self._note_ready,
            self._redaction,
            self._turns,
        )
        try:
            await session.run()
        finally:
            self._session_ended.set()

    def _note_ready(self) -> None:
        if not self.ready:
            log.info("ready")
        self.ready = True
        self._trouble.over()


def _require_equal_partitions(admin: AdminClient, home: HomeSettings) -> None:
    """What is written about a group goes to the partition that its events are in.

    Raises TopicMisconfigured, ClusterUnreachable or AuthorizationFailed.
    """
    names = [topic.full_name(home.topic_prefix) for topic in TOPICS]
    try:
        topics = admin.list_topics(timeout=TIMEOUT).topics
    except KafkaException as error:
        raise home_error(error.args[0]) from None
    counts = {name: len(topics[name].partitions) for name in names if name in topics}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise TopicMisconfigured(
            HOME, "home.partitions", f"topics differ in their number of partitions: {listed}"
        )


def run(settings: Settings, load: Callable[[], Settings], redaction: Redaction) -> None:
    """Runs until SIGTERM or SIGINT. Raises SettingsError. `load` reads the settings again."""
    collect_seldom(CYCLES)
    asyncio.run(_run(settings, load, redaction))


async def _run(settings: Settings, load: Callable[[], Settings], redaction: Redaction) -> None:
    service = Service(settings, SystemClock(), load, redaction)
    stop_by_signal(partial(asyncio.get_running_loop().call_soon_threadsafe, service.stop))
    watch = StandstillWatch(
        settings.standstill, service.works, metrics.NOTIFIER_STALLED, SystemClock()
    )
    with (
        probed(
            "notifier",
            settings,
            metrics.NOTIFIER,
            lambda: watch.reason or service.ready or service.waits_for,
        ),
        watch,
    ):
        await service.run()
    log.info("stopped")
