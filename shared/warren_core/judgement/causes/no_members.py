"""Cause: nobody is in the group."""

from warren.words import duration

from warren_core.judgement.causes.catalogue import Found, address, cause, found
from warren_core.judgement.facts import Facts

APART_MS = 15_000
"""Membership and commits are observed apart: so long one may be behind the other."""


@cause(
    "root",
    20,
    "No members in the group",
    f"a partition has stopped, the group has had no member for {APART_MS // 1000} s, and nobody "
    "has committed since; never of consumers that assign partitions to themselves",
)
def no_members(facts: Facts) -> Found | None:
    group = facts.membership
    if group is None or group.empty_since is None or not group.managed:
        return None
    empty_ms = facts.now_ms - group.empty_since
    # Whoever commits from outside the group is not missed by it.
    outside = facts.newest_commit_seen_at() > group.empty_since + APART_MS
    if empty_ms < APART_MS or outside or not facts.standing():
        return None
    client_id, host = group.left or (None, None)
    last = "" if client_id is None else f"; the last was {client_id} at {address(host)}"
    return found(
        f"No members for {duration(empty_ms)}{last}",
        "Restart the consumers and check why they exited, or delete the group if it is retired",
        since=group.empty_since,
        client_id=client_id,
        host=host,
        members=0,
    )
