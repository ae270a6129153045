"""Coordinator records as `warren decode` prints them."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from warren_wire.records import (
    GroupDeleted,
    GroupMetadata,
    GroupRecord,
    GroupRecordDeleted,
    Malformed,
    Member,
    OffsetCommit,
    OffsetDeleted,
    Record,
    Skipped,
    Subscription,
)
from warren_wire.records.key import KINDS, GroupKey

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def record_as_json(record: Record) -> dict[str, Any]:
    """One object per record; `kind` says which, and with it which fields there are."""
    match record:
        case OffsetCommit():
            return {
                "kind": "offset_commit",
                "group": record.group,
                "topic": record.topic,
                "partition": record.partition,
                "offset": record.offset,
                "timestamp_ms": record.timestamp_ms,
                "leader_epoch": record.leader_epoch,
                "metadata": record.metadata,
                "topic_id": None if record.topic_id is None else str(record.topic_id),
            }
        case OffsetDeleted():
            return {
                "kind": "offset_deleted",
                "group": record.group,
                "topic": record.topic,
                "partition": record.partition,
            }
        case GroupMetadata():
            return _group_metadata(record)
        case GroupDeleted():
            return {"kind": "group_deleted", "group": record.group}
        case GroupRecord():
            return {"kind": _kind(record.key), **_key(record.key), **_printable(record.fields)}
        case GroupRecordDeleted():
            return {"kind": f"{_kind(record.key)}_deleted", **_key(record.key)}
        case Skipped():
            return {
                "kind": "skipped",
                "key_version": record.key_version,
                "value_version": record.value_version,
                "reason": record.reason,
            }
        case Malformed():
            return {
                "kind": "malformed",
                "reason": record.reason,
                "field": record.field,
                "at": record.at,
            }


def _group_metadata(group: GroupMetadata) -> dict[str, Any]:
    return {
        "kind": "group_metadata",
        "group": group.group,
        "protocol_type": group.protocol_type,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        "state_timestamp_ms": group.state_at,
        "members": [_member(member) for member in group.members],
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "session_timeout_ms": member.session_timeout_ms,
        "assignment": dict(member.assignment),
        "user_data": _printable(member.user_data),
        "subscription": _subscription(member),
    }


def _subscription(member: Member) -> dict[str, Any]:
    """`raw` alone where the bytes are of another protocol than `consumer`, or unusable."""
    subscribed: Subscription | None = member.subscribed
    if subscribed is None:
        return {"raw": member.subscription.hex()}
    return {
        "topics": list(subscribed.topics),
        "user_data": _printable(subscribed.user_data),
        "owned": dict(subscribed.owned),
        "generation": subscribed.generation,
        "rack": subscribed.rack,
    }


def _kind(key: GroupKey) -> str:
    """ConsumerGroupMetadata becomes consumer_group_metadata."""
    return _WORD.sub("_", KINDS[key.version].name).lower()


def _key(key: GroupKey) -> dict[str, str]:
    part = KINDS[key.version].part
    return {"group": key.group, **({part: key.part} if part else {})}


def _printable(content: Any) -> Any:
    match content:
        case UUID():
            return str(content)
        case bytes():
            return content.hex()
        case list():
            return [_printable(one) for one in content]
        case dict():
            return {name: _printable(one) for name, one in content.items()}
    return content
