"""Left behind: groups that came for a short while under a name that was generated.

The first of a family are told like any other group, with how many came after them; whoever follows
is not judged. A group that has lived for long is missed, whatever it is called.
"""

from warren.contracts.group_event import FIRST_OF_FAMILY
from warren.words import counted

from warren_core.evaluation import Explanation
from warren_core.judgement.membership import Membership

LIVED_MS = 3_600_000
"""Whoever was there for an hour did not come for a query."""


def left_alike(group: Membership | None) -> Explanation | None:
    """Why the group is not judged; None where it is."""
    if group is None or group.empty_since is None or group.left_before < FIRST_OF_FAMILY:
        return None
    if group.empty_since - group.known_since >= LIVED_MS:
        return None
    others = counted(group.left_before, "other group")
    return Explanation(
        "left_behind",
        f"not judged: {others} named alike were left before it; delete them, or leave such names "
        "out with groups_deny",
    )
