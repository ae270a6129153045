"""The key of every event: `cluster|group`."""

from __future__ import annotations

import re

from warren.errors import ContractViolation

CLUSTER_NAME = re.compile(r"[A-Za-z0-9._-]+")


def group_key(cluster: str, group: str) -> bytes:
    """`|` may occur in group names, never in cluster names, so the first one separates."""
    return f"{cluster}|{group}".encode()


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
