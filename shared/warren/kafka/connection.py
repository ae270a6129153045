"""Connecting to a cluster: client options, and errors turned into Warren's own classes.

Trouble that lasts is told when it begins, now and then while it lasts, and once it is over.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import confluent_kafka
import structlog
from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, TopicDescription
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_when_event_set
from tenacity.nap import sleep_using_event
from tenacity.wait import wait_random_exponential

from warren.clock import Clock
from warren.errors import (
    AuthenticationFailed,
    AuthorizationFailed,
    ClientLost,
    ClusterUnreachable,
    KafkaError,
    TopicMissing,
)
from warren.logins import LOGIN_PROPERTIES, librdkafka_properties
from warren.logins.tls import unusable
from warren.settings import KafkaConnection
from warren.standstill import Look, obstacle

log = structlog.get_logger(__name__)

_UNKNOWN = re.compile(r'No such configuration property: "(?P<name>[^"]+)"')
_VALUE = re.compile(
    r'Invalid value (?P<value>".*" )?for configuration property "(?P<name>[^"]+)"', re.S
)
_RANGE = re.compile(
    r'Configuration property "(?P<name>[^"]+)" value .* is outside allowed range (?P<range>\S+)'
)
_FILE = re.compile(r"(?P<name>[a-z]+(?:\.[a-z]+)+) failed: (?P<problem>.*)", re.S)
_CLIENT = re.compile(r"Failed to create [a-z ]*client: ")


class Refused(NamedTuple):
    """`name`: the property; empty where librdkafka names none."""

    name: str
    problem: str


def refused_property(text: str) -> Refused:
    """What `text`, of an exception of confluent-kafka, says."""
    text = _CLIENT.sub("", text).strip()
    if found := _UNKNOWN.match(text):
        near = get_close_matches(found["name"], LOGIN_PROPERTIES, n=1, cutoff=0.8)
        meant = f"; did you mean {near[0]}?" if near else ""
        return Refused(found["name"], f"librdkafka has no such property{meant}")
    if found := _VALUE.match(text):
        value = (found["value"] or "this value").strip()
        return Refused(found["name"], f"librdkafka does not take {value}")
    if found := _RANGE.match(text):
        return Refused(found["name"], f"must be within {found['range']}")
    if found := _FILE.match(text):
        return Refused(found["name"], f"cannot be used: {found['problem']}")
    return Refused("", text)


# What librdkafka has to say reaches people through ErrorReporter; its own lines are for debugging.
librdkafka_log = logging.getLogger("librdkafka")
librdkafka_log.setLevel(logging.CRITICAL)
REPORT_EVERY = 30.0
LIST_SECONDS = 3.0
GRACE_SECONDS = 5.0  # after its own time a request of librdkafka's is over, but for a lost one

_ASKED_FOR = "__consumer_offsets"
Code = confluent_kafka.KafkaError
Answer = TypeVar("Answer")
Client = TypeVar("Client")
_AUTHENTICATION = {
    Code._AUTHENTICATION,
    Code.SASL_AUTHENTICATION_FAILED,
    Code.UNSUPPORTED_SASL_MECHANISM,
    Code.ILLEGAL_SASL_STATE,
    Code._SSL,
}
_AUTHORIZATION = {
    Code.TOPIC_AUTHORIZATION_FAILED,
    Code.GROUP_AUTHORIZATION_FAILED,
    Code.CLUSTER_AUTHORIZATION_FAILED,
    Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
_MISSING = {Code.UNKNOWN_TOPIC_OR_PART, Code._UNKNOWN_TOPIC, Code._UNKNOWN_PARTITION}


def classify(cluster: str, setting: str, error: confluent_kafka.KafkaError) -> KafkaError:
    """The class of error that an operator can act on. `setting` is the cluster's table."""
    code, text = error.code(), error.str() or error.name()
    if code in _AUTHENTICATION:
        return AuthenticationFailed(cluster, f"{setting}.kafka", f"authentication failed: {text}")
    if code in _AUTHORIZATION:
        return AuthorizationFailed(cluster, f"{setting}.kafka", f"not authorised: {text}")
    if code in _MISSING:
        return TopicMissing(cluster, setting, text)
    return ClusterUnreachable(cluster, f"{setting}.bootstrap", text)


class ErrorReporter:
    """librdkafka's error callback: one line per kind of trouble, not one per reconnection."""

    def __init__(self, cluster: str, setting: str) -> None:
        self._cluster = cluster
        self._setting = setting
        self._reported: tuple[type[KafkaError] | None, float] = (None, 0.0)

    def __call__(self, error: confluent_kafka.KafkaError) -> None:
        classified = classify(self._cluster, self._setting, error)
        now = time.monotonic()
        kind, at = self._reported
        if kind is type(classified) and now - at < REPORT_EVERY:
            return
        self._reported = (type(classified), now)
        log_retry(classified)


def client_options(
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    on_error: Callable[[confluent_kafka.KafkaError], None] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Options of a confluent-kafka client; names in `extra` are written with `_` for `.`."""
    return {
        "client.id": connection.client_id,
        "error_cb": on_error or ErrorReporter(cluster, setting),
        "logger": librdkafka_log,
        "log.connection.close": False,
        **{name.replace("_", "."): value for name, value in extra.items()},
        **librdkafka_properties(connection),
    }


def new_client(
    kind: Callable[[dict[str, Any]], Client],
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    on_error: Callable[[confluent_kafka.KafkaError], None] | None = None,
    **extra: Any,
) -> Client:
    """A confluent-kafka client with the credentials of now; see `client_options`.

    Raises SettingsError for a property that librdkafka does not know or cannot use,
    AuthenticationFailed for renewed files that cannot be used yet.
    """
    try:
        return kind(client_options(cluster, setting, connection, on_error, **extra))
    except (KafkaException, ValueError) as error:
        cause = error.args[0] if error.args else error
        name, problem = refused_property(
            cause.str() if isinstance(cause, confluent_kafka.KafkaError) else str(cause)
        )
        if name.endswith(".location"):  # of a file that is not there OpenSSL says "BIO lib"
            try:
                Path(str(librdkafka_properties(connection)[name])).read_bytes()
            except OSError as unread:
                problem = f"{unread.filename} cannot be read: {unread.strerror}"
        raise unusable(setting, connection, problem, name) from None


def require_usable(cluster: str, setting: str, connection: KafkaConnection) -> None:
    """Make a client that asks nobody. Raises what `new_client` does."""
    new_client(AdminClient, cluster, setting, connection.model_copy(update={"bootstrap": ""}))


def connect(
    cluster: str, setting: str, connection: KafkaConnection, timeout: float = 10.0
) -> AdminClient:
    """An admin client of a cluster that has just answered.

    `timeout` in seconds. Raises SettingsError for a property that librdkafka does not know,
    ClusterUnreachable or AuthenticationFailed.
    """
    seen: list[confluent_kafka.KafkaError] = []
    admin = new_client(AdminClient, cluster, setting, connection, seen.append)
    answer, given_up_at = ask(admin, timeout), time.monotonic() + timeout
    while not answer.done() and time.monotonic() < given_up_at:
        admin.poll(0.05)  # delivers errors to `seen`
        if any(error.code() in _AUTHENTICATION for error in seen):
            raise _most_telling(cluster, setting, seen, connection)
    unanswered = why_unanswered(answer, 0)
    if unanswered is not None and not _lists(admin):
        raise _most_telling(cluster, setting, [*seen, unanswered], connection)
    return admin


def ask(admin: AdminClient, timeout: float) -> Future[TopicDescription]:
    """Asks whether a broker answers: `why_unanswered` has the outcome. `timeout` in seconds.

    It describes a topic, whether there is one or not. Not the cluster: librdkafka 2.16 ends the
    process (`rko_result' failed) where a broker that has just started knows of no brokers.
    """
    asked = admin.describe_topics(TopicCollection([_ASKED_FOR]), request_timeout=timeout)
    answer: Future[TopicDescription] = asked[_ASKED_FOR]
    return answer


def awaited(answer: Future[Answer], timeout: float) -> Answer:
    """What a request of `timeout` seconds brings; raises KafkaException. Of what it asks while it
    loses its brokers librdkafka 2.16 may never say anything, not even that its time is over.
    """
    try:
        return answer.result(timeout + GRACE_SECONDS)
    except TimeoutError:
        raise KafkaException(confluent_kafka.KafkaError(Code._TIMED_OUT)) from None


def answers(admin: AdminClient, timeout: float) -> bool:
    """Whether a broker answers within `timeout` seconds, or a few more."""
    return why_unanswered(ask(admin, timeout), timeout) is None or _lists(admin)


def _lists(admin: AdminClient) -> bool:
    """Whether any broker answers. What `ask` asks goes to the one that metadata call the controller
    (librdkafka 2.16), and with KRaft that is any broker, also one that is out of reach.
    """
    try:
        admin.list_topics(_ASKED_FOR, timeout=LIST_SECONDS)
    except KafkaException:
        return False
    return True


def why_unanswered(
    answer: Future[TopicDescription], timeout: float
) -> confluent_kafka.KafkaError | None:
    """What kept all brokers from answering within `timeout` seconds. A broker's refusal is an
    answer, too.
    """
    try:
        awaited(answer, timeout)
    except KafkaException as error:
        problem: confluent_kafka.KafkaError = error.args[0]
        return problem if problem.code() < 0 or problem.code() in _AUTHENTICATION else None
    return None


def _most_telling(
    cluster: str,
    setting: str,
    errors: list[confluent_kafka.KafkaError],
    connection: KafkaConnection,
) -> KafkaError:
    """A refused password says more than the time-out that it ends in."""
    for error in [classify(cluster, setting, error) for error in errors]:
        if isinstance(error, AuthenticationFailed | AuthorizationFailed):
            return error
    return ClusterUnreachable(
        cluster, f"{setting}.bootstrap", f"no broker answers at {connection.bootstrap}"
    )


def await_connection(
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    stop: threading.Event,
    timeout: float = 10.0,
    on_problem: Callable[[KafkaError], None] = lambda _: None,
) -> AdminClient | None:
    """Connects, however long it takes: one log line per attempt. None when `stop` was set.

    `on_problem` is told of each attempt that failed.
    """

    def tell(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        log_retry(error)
        if isinstance(error, KafkaError):
            on_problem(error)

    attempts = Retrying(
        retry=retry_if_exception_type(KafkaError),
        wait=wait_random_exponential(multiplier=0.5, max=15),
        stop=stop_when_event_set(stop),
        sleep=sleep_using_event(stop),
        before_sleep=tell,
        reraise=True,
    )
    try:
        return attempts(connect, cluster, setting, connection, timeout)
    except KafkaError:
        return None


def log_retry(error: BaseException | None) -> None:
    """One line for the operator: which cluster, which setting, what is wrong."""
    if isinstance(error, KafkaError):
        is_ours = isinstance(error, ClientLost)
        log.warning(
            "client lost, made anew" if is_ours else "cluster not usable, retrying",
            cluster=error.cluster,
            setting=error.setting,
            problem=error.problem,
        )


class Trouble:
    """What keeps some work with a cluster from being done. Written by one thread, read by any."""

    def __init__(self, cluster: str, clock: Clock, over: str = "publishing again") -> None:
        """`over` is what is said in the end."""
        self._cluster = cluster
        self._clock = clock
        self._over = over
        self._problem: KafkaError | None = None
        self._began_at = 0.0
        self._told_at = 0.0

    @property
    def problem(self) -> KafkaError | None:
        """What was told last; None when it is over."""
        return self._problem

    def look(self) -> Look:
        """Look at the work: while there is trouble, none of it is done."""
        return obstacle(self._problem)

    def tell(self, error: KafkaError) -> None:
        """The work was tried in vain: one line when that begins, changes its kind, or lasts."""
        now, before = self._clock.monotonic(), self._problem
        self.note(error)
        if type(before) is not type(error) or now - self._told_at >= REPORT_EVERY:
            log_retry(error)
            self._told_at = now

    def note(self, error: KafkaError) -> None:
        """The same, of what somebody else has told already."""
        if self._problem is None:
            self._began_at = self._clock.monotonic()
        self._problem = error

    def over(self) -> None:
        """The work was done: one line where there was trouble."""
        if self._problem is not None:
            self._problem = None
            seconds = round(self._clock.monotonic() - self._began_at, 1)
            log.info(self._over, cluster=self._cluster, after_seconds=seconds)


class Refusals:
    """Of one right on one kind of thing; what is granted meanwhile is news when refused again."""

    def __init__(self, cluster: str, setting: str, right: str, kind: str, consequence: str) -> None:
        """`setting` is the cluster's table, `right` an ACL operation, `kind` a resource type."""
        self._cluster = cluster
        self._setting = f"{setting}.kafka"
        self._right = right
        self._kind = kind
        self._consequence = consequence
        self._refused: frozenset[str] = frozenset()

    def observe(self, refused: Iterable[str], asked: Iterable[str] | None = None) -> None:
        """`asked`: names that the answer is about; None for all that there are."""
        now = frozenset(refused)
        news = sorted(now - self._refused)
        self._refused = now if asked is None else self._refused.difference(asked) | now
        if news:
            more = f" and {len(news) - 1} more {self._kind}s" if len(news) > 1 else ""
            problem = f"not authorised: {self._right} on {self._kind} {news[0]}{more}"
            log_retry(
                AuthorizationFailed(self._cluster, self._setting, f"{problem}; {self._consequence}")
            )
