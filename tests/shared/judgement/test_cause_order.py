"""The order of causes: the root first, what follows from it second."""

from collections.abc import Iterator

import pytest
from support.group_looks import WELL, at, group_event, looks, names, silent, standing, told, well
from support.offset_events import At
from warren.contracts import Cause, GroupEvent
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.causes.catalogue import CATALOGUE, Found, cause, ranked
from warren_core.judgement.facts import Facts

PROGRESS = GroupRules(Rules(policy="progress"))
GONE = 700  # where the log begins, above the offset at which a partition stands


def slow(log_start: int = 0) -> Iterator[At]:
    """Consumes a quarter; retention is faster."""
    for look in range(40):
        yield at(look, 50 * look, 200 * look, log_start=max(200 * look - 50, 0) * bool(log_start))


def lagging(committed: int = 1_000) -> Iterator[At]:
    """Consumes what is produced, a minute behind."""
    for look in range(40):
        yield at(look, 50 * look, 50 * look + committed)


def again(log_start: int) -> Iterator[At]:
    """Its offset was reset, and it reads on; a part of that is deleted meanwhile."""
    for look in range(WELL + 5):
        offset = 50 * look if look <= WELL else 10 * (look - WELL)
        yield at(look, offset, 50 * look, log_start=log_start if look > WELL else 0)


def in_turn(log_start: int) -> Iterator[At]:
    """Two commit."""
    for look in range(WELL + 6):
        old = look > WELL and look % 2
        began = log_start if look > WELL else 0
        yield at(look, 100 if old else 50 * look, 50 * look, log_start=began)


def beyond() -> Iterator[At]:
    """Its topic was made anew."""
    yield at(0, 600, 600)
    for look in range(1, 40):
        yield at(look, 600, 50 if look > WELL else 600, commits=0)


LOOP = [group_event(n, [0, 1], rebalances=n // 4) for n in range(0, 40, 4)]
OF_TWO = group_event(0, [0, 1], [2, 3])


@pytest.mark.parametrize(
    ("root", "partitions", "groups"),
    [
        ("beyond_log_end", [beyond(), silent(log_start=GONE)], []),
        ("no_members", [silent(log_start=GONE)], [group_event(0, [0]), group_event(WELL + 1)]),
        ("rebalance_loop", [silent(log_start=GONE), silent()], LOOP),
        (
            "unowned_partitions",
            [well(), silent(log_start=GONE)],
            [group_event(0, [0, 1]), group_event(WELL, [0], unowned={"orders": [1]})],
        ),
        ("one_member", [silent(log_start=GONE), silent(), well(), well()], [OF_TWO]),
        ("stuck_record", [standing(log_start=GONE), well()], [group_event(0, [0, 1])]),
        ("too_slow", [slow(GONE)], [group_event(0, [0])]),
    ],
)
def test_a_root_comes_before_the_loss_that_follows_from_it(
    root: str, partitions: list[Iterator[At]], groups: list[GroupEvent]
) -> None:
    cause = told(looks(*partitions), *groups)
    assert names(cause) == [root, "records_lost"]
    assert all(found.action for found in cause.findings)


def test_bad_records_of_a_few_partitions_come_before_the_loss() -> None:
    """Each record is one that the group cannot get past; most of the group is well."""
    cause = told(looks(standing(log_start=GONE), standing(log_start=GONE), well(), well()))
    assert names(cause) == ["stuck_record", "records_lost"]
    assert "orders/0 and 1 more for " in cause.sentence
    assert cause.evidence.partitions == 2


def test_a_transaction_that_hangs_comes_before_the_loss() -> None:
    lost = looks(standing(log_start=GONE), well(), last_stable=[600, -1])
    assert names(told(lost)) == ["hanging_transaction", "records_lost"]


def test_a_broker_that_hangs_comes_before_the_loss() -> None:
    lives = *(silent(log_start=GONE) for _ in range(4)), *(well() for _ in range(4))
    two_each = group_event(0, [0, 4], [1, 5], [2, 6], [3, 7])
    cause = told(looks(*lives, leaders=[101] * 4 + [102] * 4), two_each)
    assert names(cause) == ["one_broker", "records_lost"]


@pytest.mark.parametrize(
    ("root", "life"), [("replaying", again(60)), ("competing_commits", in_turn(110))]
)
def test_who_goes_back_comes_before_the_loss(root: str, life: Iterator[At]) -> None:
    assert names(told(looks(life), rules=PROGRESS)) == [root, "records_lost"]


def test_a_backlog_that_stays_follows_from_a_root() -> None:
    """Rebalances cost what the group would need to catch up."""
    assert names(told(looks(lagging()), group_event(0, [0]))) == ["late"]
    loop = [group_event(n, [0], rebalances=n // 4) for n in range(0, 40, 4)]
    assert names(told(looks(lagging()), *loop)) == ["rebalance_loop", "late"]


def test_without_a_known_root_the_gravest_consequence_comes_first() -> None:
    """A backlog that does not shrink, of which retention takes the oldest."""
    life = (at(look, 50 * look, 50 * look + 1_000, log_start=50 * look + 9) for look in range(40))
    assert names(told(looks(life))) == ["records_lost", "late"]


def test_incidents_again_and_again_follow_from_a_root() -> None:
    """Nobody was in the group at the third time, at least."""

    def pauses() -> Iterator[At]:
        last = 0
        for look in range(175):
            last = look if look % 60 < 25 else last
            yield at(look, 50 * last, 50 * look, commits=int(last == look))

    known = [group_event(0, [0])]
    assert names(told(looks(pauses()), *known)) == ["crash_loop", "flapping"]
    gone = [*known, group_event(150)]
    assert names(told(looks(pauses()), *gone)) == ["crash_loop", "flapping"]


# The catalogue: causes register themselves, and only what is known of all can be told.


def test_every_cause_has_its_words() -> None:
    assert {known.name for known in (*ranked("root"), *ranked("consequence"))} == set(CATALOGUE)
    assert "unknown" not in CATALOGUE  # what is said where the facts speak for nothing
    for known in CATALOGUE.values():
        assert 2 <= len(known.short.split()) <= 7
        assert known.when


def test_events_of_before_have_no_words_for_lists() -> None:
    old = Cause.model_validate_json('{"name": "late", "sentence": "900 behind"}')
    assert (old.short, old.brief) == (None, "900 behind")
    assert "short" not in old.model_dump_json()
    assert Cause(name="late", sentence="900 behind", short="Keeps pace").brief == "Keeps pace"


def no_members(_: Facts) -> Found | None:
    return None


def another(_: Facts) -> Found | None:
    return None


@pytest.mark.parametrize(
    ("find", "rank"), [(no_members, 999), (another, CATALOGUE["no_members"].rank)]
)
def test_names_and_ranks_are_taken_once(find: object, rank: int) -> None:
    """Else which of two is told would depend on the order of imports."""
    with pytest.raises(ValueError, match="is taken"):
        cause("root", rank, "some words", "never")(find)  # type: ignore[arg-type]
