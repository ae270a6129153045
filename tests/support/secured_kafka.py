"""A broker with an authorizer that tests share: its plain listener allows everything, users need
rights. Each test has users of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from support.servers import embedded_kafka
from support.waiting import eventually
from warren_local.kafka import Listener
from warren_local.server import HOST, free_port

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
PASSWORD = "right"
USERS = 50
TIMEOUT = 30


class User:
    """Of the listener `secured`: with a password, and without a right at first."""

    def __init__(self, name: str, secured: str, admin: AdminClient) -> None:
        self.name = name
        self.secured = secured
        self._admin = admin

    def login(self, password: str = PASSWORD) -> dict[str, str]:
        """The user's properties of a connection."""
        return login(self.name, password)

    def grant(self, kind: ResourceType, name: str, *operations: AclOperation) -> None:
        acls = [self._allowed(kind, name, operation) for operation in operations]
        for future in self._admin.create_acls(acls).values():
            future.result(TIMEOUT)
        for acl in acls:  # written it is, and the broker reads it a moment later
            eventually(partial(self._is_known, acl), message=f"the broker knows {acl}")

    def _is_known(self, acl: AclBinding) -> bool:
        return bool(self._admin.describe_acls(_filter_of(acl)).result(TIMEOUT))

    def revoke(self, kind: ResourceType, name: str, operation: AclOperation) -> None:
        wanted = _filter_of(self._allowed(kind, name, operation))
        for future in self._admin.delete_acls([wanted]).values():
            assert future.result(TIMEOUT)

    def _allowed(self, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
        literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
        return AclBinding(kind, name, literal, f"User:{self.name}", "*", operation, allow)


def _filter_of(acl: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        acl.restype,
        acl.name,
        acl.resource_pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )


class SecuredKafka:
    """`bootstrap` is for whom all is allowed, `secured` for users."""

    def __init__(self, bootstrap: str, secured: str, users: Iterator[str]) -> None:
        self.bootstrap = bootstrap
        self.secured = secured
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._users = users

    def user(self) -> User:
        """One that no other test has had."""
        return User(next(self._users), self.secured, self.admin)


def user_names(worker: int = 0, workers: int = 1) -> list[str]:
    """Return the users that tests of one of so many workers may take."""
    return [f"user-{number}" for number in range(worker, USERS, workers)]


@contextmanager
def running_secured_kafka(root: Path, logs: Path) -> Iterator[SecuredKafka]:
    users = user_names()
    listener = Listener(free_port(), "SASL_PLAINTEXT")
    known = " ".join(f'user_{user}="{PASSWORD}"' for user in users)
    login = f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"
    properties = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": login,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",  # whoever comes through the plain listener
    }
    with embedded_kafka(
        root, logs, listeners={"SECURED": listener}, properties=properties
    ) as kafka:
        yield SecuredKafka(kafka.bootstrap, f"{HOST}:{listener.port}", iter(users))


def login(user: str, password: str = PASSWORD) -> dict[str, str]:
    """The user's properties of a connection."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
    }
