"""Trouble with the home cluster while the worker runs, as one line that an operator can act on.

aiokafka logs several lines for each attempt of each connection, ten times a second; Faust logs
tracebacks. Both become the line that every service writes, at most one per kind and half a minute.
"""

import logging

from aiokafka import errors
from warren.clock import Clock
from warren.errors import AuthenticationFailed, AuthorizationFailed, ClusterUnreachable, KafkaError
from warren.kafka.topics import HOME

EVERY = 30.0  # seconds

_AUTHENTICATION = (
    errors.AuthenticationFailedError,
    errors.AuthenticationMethodNotSupported,
    errors.IllegalSaslStateError,
    errors.SaslAuthenticationFailed,
    errors.UnsupportedSaslMechanismError,
)
_AUTHORIZATION = (
    errors.ClusterAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.TopicAuthorizationFailedError,
)


def classify(error: errors.KafkaError) -> KafkaError:
    """aiokafka's error as Warren's."""
    if isinstance(error, _AUTHENTICATION):
        return AuthenticationFailed(HOME, "home.kafka", f"authentication failed: {error}")
    if isinstance(error, _AUTHORIZATION):
        return AuthorizationFailed(HOME, "home.kafka", f"not authorised: {error}")
    return ClusterUnreachable(HOME, "home.bootstrap", str(error))


class KafkaTrouble(logging.Filter):
    """Rewrites, and thins out, what aiokafka and Faust log about the cluster."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._reported: dict[type[KafkaError], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = _trouble(record)
        if error is None:
            return True
        now = self._clock.monotonic()
        last = self._reported.get(type(error))
        if last is not None and now - last < EVERY:
            return False
        self._reported[type(error)] = now
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args = "cluster not usable, retrying", ()
        record.exc_info = record.exc_text = None
        fields = {"cluster": error.cluster, "setting": error.setting, "problem": error.problem}
        record.__dict__.update(fields)
        return True


def _trouble(record: logging.LogRecord) -> KafkaError | None:
    """What the record says about the cluster; None when it is about something else."""
    raised = record.exc_info[1] if record.exc_info else None
    if isinstance(raised, errors.KafkaError):
        return classify(raised)
    if record.name.partition(".")[0] == "aiokafka":
        return ClusterUnreachable(HOME, "home.bootstrap", record.getMessage())
    return None
