"""Groups of generated names that were left behind: the first are told, the others are counted."""

import pytest
from support.group_looks import WELL, group_event, known_of, looks, silent, told
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.membership import membership_after
from warren_core.judgement.state import GroupState

RULES = GroupRules(Rules(policy="progress"))


@pytest.mark.parametrize(("before", "status"), [(2, "ERR"), (3, "OK")])
def test_who_follows_others_is_not_judged(before: int, status: str) -> None:
    left = group_event(WELL + 1, left_before=before)
    first = membership_after(left, membership_after(group_event(0, [0]), None))
    group = membership_after(group_event(WELL + 2), first)  # of a collector that starts again
    state: GroupState | None = None
    for event in looks(silent()):
        outcome = judge(event, state, RULES, knowledge=known_of(group, None))
        assert isinstance(outcome, Judged)
        state = outcome.state
    lag = outcome.lag
    assert lag.status == status
    assert (lag.reason == "left_behind") == (lag.total_lag == 0) == (status == "OK")


def test_the_first_say_how_many_followed() -> None:
    cause = told(
        looks(silent(), silent()), group_event(0, [0], [1]), group_event(WELL + 1, left_after=46)
    )
    assert cause.name == "no_members"
    assert "; 46 other groups named alike were left" in cause.sentence
    assert cause.action.endswith("leave such names out with groups_deny")
