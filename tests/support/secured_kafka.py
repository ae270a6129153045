"""A broker with an authorizer: its plain listener allows everything, users need rights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
from warren_local.kafka_properties import Listener
from warren_local.ports import HOST, free_port

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
PASSWORD = "right"
TIMEOUT = 30


class SecuredKafka:
    """`bootstrap` is for whom all is allowed, `secured` for users."""

    def __init__(self, bootstrap: str, secured: str) -> None:
        self.bootstrap = bootstrap
        self.secured = secured
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def grant(self, user: str, kind: ResourceType, name: str, *operations: AclOperation) -> None:
        acls = [_allowed(user, kind, name, operation) for operation in operations]
        for future in self.admin.create_acls(acls).values():
            future.result(TIMEOUT)

    def revoke(self, user: str, kind: ResourceType, name: str, operation: AclOperation) -> None:
        acl = _allowed(user, kind, name, operation)
        wanted = AclBindingFilter(
            acl.restype,
            acl.name,
            acl.resource_pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for future in self.admin.delete_acls([wanted]).values():
            assert future.result(TIMEOUT)


@contextmanager
def secured_kafka(root: Path, logs: Path, *users: str) -> Iterator[SecuredKafka]:
    """Their password is PASSWORD; they begin without a right."""
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
        yield SecuredKafka(kafka.bootstrap, f"{HOST}:{listener.port}")


def login(user: str, password: str = PASSWORD) -> dict[str, str]:
    """The user's properties of a connection."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
    }


def _allowed(user: str, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(kind, name, literal, f"User:{user}", "*", operation, allow)
