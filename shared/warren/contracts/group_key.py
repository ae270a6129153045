"""The key of every event: `cluster|group`."""

import re

from warren.errors import ContractViolation

CLUSTER_NAME = re.compile(r"[A-Za-z0-9._-]+")
_PART = re.compile(rb"\+[0-9]+")


def group_key(cluster: str, group: str) -> bytes:
    """`|` may occur in group names, never in cluster names, so the first one separates."""
    return f"{cluster}|{group}".encode()


def part_key(key: bytes, part: int) -> bytes:
    """The key of a later part of what has this key; of part 0 the key itself.

    No cluster's name has a `+`: who knows nothing of parts takes it for no key at all.
    """
    return b"+%d|%b" % (part, key) if part else key


def whole_key(key: bytes | None) -> bytes | None:
    """The key of the group that a part's key is about; any other key as it is."""
    part, separator, whole = (key or b"").partition(b"|")
    return whole if separator and _PART.fullmatch(part) else key


def split_group_key(key: bytes | None) -> tuple[str, str]:
    """The (cluster, group) of a key.

    Raises ContractViolation when the key is missing, not UTF-8 or has no cluster.
    """
    try:
        cluster, separator, group = (key or b"").decode().partition("|")
    except UnicodeDecodeError as error:
        raise ContractViolation(f"key is not UTF-8: {error}") from error
    if not separator or not CLUSTER_NAME.fullmatch(cluster):
        raise ContractViolation("key is not cluster|group")
    return cluster, group
