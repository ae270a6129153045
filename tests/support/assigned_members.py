"""Members of groups and what they are assigned."""

from warren.contracts import GroupMember


def member(name: str, *subscription: str, **assignment: list[int]) -> GroupMember:
    return GroupMember(
        member_id=name,
        client_id="c",
        host="/h",
        assignment=assignment,
        subscription=list(subscription),
    )


TWO = [member("a", "t", t=[0, 1, 2]), member("b", "t", t=[3])]
