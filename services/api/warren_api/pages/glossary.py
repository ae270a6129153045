"""What statuses, figures and words on the pages mean: one catalogue. Pure."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """`short`: in a few words, behind a status; `long`: sentences for who meets it first."""

    short: str
    long: str


STATUSES: dict[str, Meaning] = {
    "OK": Meaning("keeps up", "The group reads as fast as records arrive, or has read them all."),
    "WARN": Meaning(
        "commits, but falls further behind",
        "The group commits but falls behind, or misses an objective. It can wait for the morning.",
    ),
    "ERR": Meaning(
        "needs action",
        "The group has stopped, is stuck, went back, or loses data. Somebody has to act.",
    ),
    "UNKNOWN": Meaning(
        "unknown at the moment",
        "Nobody could judge the group lately. Its cluster, or a service of Warren, is away. The "
        "page keeps the last known state.",
    ),
    "STOP": Meaning(
        "stopped committing",
        "A partition has unread records, and no member commits it any more.",
    ),
    "STALL": Meaning(
        "commits the same offset again and again",
        "Commits go on, but the offset stays. One record may fail, or a member paused the "
        "partition.",
    ),
    "REWIND": Meaning(
        "went back to older records",
        "The committed offset is lower than before. The group reads records again.",
    ),
    "BEYOND_END": Meaning(
        "committed an offset that the log does not have",
        "The committed offset lies behind the end of the log. The topic may have been recreated.",
    ),
}
OF_GROUPS = ("ERR", "WARN", "UNKNOWN", "OK")
FIGURES = {
    "Late": "Age of the oldest record that the group has not read, in its latest partition.",
    "Data loss in": "Time until retention may delete a record that the group has not read.",
    "Lag": "Records that can still be read and are not, of all partitions together.",
    "Since": "When the open incident began; without one, when the status did.",
}
WORDS = {
    "Needs action": "ERR or losing data, and nobody has acknowledged or silenced it.",
    "Handled": "Not OK, and somebody has acknowledged or silenced it.",
    "Acknowledged": "Somebody works on the incident: no repeats, no escalation, until it worsens.",
    "Silenced": "No notifications for a while. The status stays visible.",
    "Losing data": "Retention has deleted records that the group had not read.",
    "Incident": "All that is wrong with one group, from its first bad status until it is OK.",
}
