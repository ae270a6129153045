"""The error tree: callers branch on the class, data is in attributes, text is for people."""


class WarrenError(Exception):
    """Root of every error that Warren raises on purpose."""


class SettingsError(WarrenError):
    """A setting is missing, unknown or unusable.

    Operator: `setting` names it (as written in warren.toml); the text says what is accepted.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}" if setting else problem)
        self.setting = setting
        self.problem = problem


class TokenRefused(WarrenError):
    """A token endpoint gave no token to log in with.

    Operator: the text says what it answered; see `sasl.oauthbearer.token.endpoint.url`.
    """


class RecordError(WarrenError):
    """A record of a topic cannot be used; it is dead-lettered or reported, never retried.

    Operator: `topic`, `partition` and `offset` say which record.
    """

    def __init__(
        self, reason: str, *, topic: str = "", partition: int = -1, offset: int = -1
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.topic = topic
        self.partition = partition
        self.offset = offset


class MalformedRecord(RecordError):
    """The bytes of a coordinator record contradict Kafka's schema.

    Operator: usually a truncated or foreign record; `field` and `at` (byte position in the key or
    value) say where reading stopped.
    """

    def __init__(self, reason: str, *, field: str, at: int) -> None:
        super().__init__(reason)
        self.field = field
        self.at = at


class UnreadableBatch(RecordError):
    """Bytes of a log are no record batch, or are compressed in a way that nobody knows.

    Operator: the log is damaged; Kafka's own consumers cannot read it either.
    """


class ContractViolation(RecordError):
    """An event on one of Warren's own topics is not what its contract says.

    Operator: something else than Warren, or an incompatible version of it, wrote this event.
    """


class TooLarge(RecordError):
    """What is to be said of a group is more than a record of a topic may hold.

    Operator: raise `max.message.bytes` of the topic; `warren topics check` knows what it should be.
    """

    def __init__(self, topic: str, size: int) -> None:
        super().__init__(f"too large for {topic}: {size} bytes", topic=topic)
        self.size = size


class KafkaError(WarrenError):
    """A cluster did not do what was asked; `cluster` is its name, `setting` what to look at."""

    def __init__(self, cluster: str, setting: str, problem: str) -> None:
        super().__init__(f"cluster {cluster}: {problem} (see {setting})")
        self.cluster = cluster
        self.setting = setting
        self.problem = problem


class ClusterUnreachable(KafkaError):
    """No broker answers. Operator: check the bootstrap servers, the network and the listeners."""


class BrokerUnreachable(KafkaError):
    """Some brokers do not answer, others do. Operator: check the network from here to the address
    that each of them advertises (`advertised.listeners`).
    """


class ClientLost(ClusterUnreachable):
    """A client of ours knows no broker any more, though they answer others: it is made anew.

    Operator: nothing, unless it happens again and again.
    """


class AuthenticationFailed(KafkaError):
    """The broker refused the credentials. Operator: check user, password, mechanism."""


class AuthorizationFailed(KafkaError):
    """The user may not do this. Operator: grant the right that the text names."""


class TopicMissing(KafkaError):
    """A needed topic does not exist. Operator: run `warren topics create`."""


class TopicMisconfigured(KafkaError):
    """A topic differs from the catalogue. Operator: `warren topics check` lists what and how."""


class PublishFailed(KafkaError):
    """The broker did not acknowledge a record. Operator: see the reason; the work is repeated."""


class MaybePublished(PublishFailed):
    """The broker has not answered in time, so nobody knows whether it has the record.

    Operator: see whether it is there before the work is repeated by hand; services repeat it.
    """


class ProcessFrozen(KafkaError):
    """This process stood still for so long that others may serve its partitions.

    Operator: nothing; it joins anew. Where it happens again and again, the machine is suspended or
    overloaded, or `setting` is too short for it.
    """


class ForeignMembers(KafkaError):
    """Another Warren's collectors share our consumer group, and so our partitions.

    Operator: give each Warren a name of its own, `[home] instance`.
    """


class RecordTooLarge(PublishFailed):
    """A topic takes no record of this size. Operator: `warren topics check` says what it should."""
