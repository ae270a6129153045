"""Left behind: groups that came for a short while under a name that was generated.

The first of a family are told like any other group, with how many came after them; whoever follows
is not judged. The collector says who is one: it saw them come, and go within the hour.
"""

from warren.contracts.group_event import FIRST_OF_FAMILY
from warren.words import counted

from warren_core.evaluation import Explanation
from warren_core.judgement.membership import Membership


def left_alike(group: Membership | None) -> Explanation | None:
    """Why the group is not judged; None where it is."""
    if group is None or group.empty_since is None or group.left_before < FIRST_OF_FAMILY:
        return None
    others = counted(group.left_before, "other group")
    return Explanation(
        "left_behind",
        f"not judged: {others} named alike were left before it; delete them, or leave such names "
        "out with groups_deny",
    )
