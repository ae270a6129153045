"""Groups of generated names that were left behind: the first are told, the others are counted."""

import pytest
from support.group_looks import WELL, group_event, known_of, looks, silent, told
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.left_behind import LIVED_MS
from warren_core.judgement.membership import membership_after
from warren_core.judgement.state import GroupState

RULES = GroupRules(Rules(policy="progress"))


@pytest.mark.parametrize(
    ("before", "lived_ms", "status"),
    [(2, 0, "ERR"), (3, 0, "OK"), (3, LIVED_MS, "ERR"), (3, LIVED_MS - 1, "OK")],
)
def test_who_follows_others_is_not_judged(before: int, lived_ms: int, status: str) -> None:
    left = group_event(WELL + 1, left_before=before)
    first = group_event(0, [0]).model_copy(update={"observed_at": left.observed_at - lived_ms})
    group = membership_after(left, membership_after(first, None) if lived_ms else None)
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
