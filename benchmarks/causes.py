"""How often the cause of a group's trouble is told rightly: a confusion matrix over scripts.

Each script (`support.scripted_groups`) is played with several seeds: numbers of members and
partitions, rates and commit intervals differ. Every judgement of a group that is not OK counts,
from when its cause can be told. Prints the matrix, then one JSON line. A flip is a cause that gives
way to another, and is back within a minute.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from itertools import pairwise

from support.scripted_groups import SCRIPTS, START_MS, TROUBLE_S, Script, observed
from warren.contracts import FreshnessEvent, GroupEvent
from warren_core.evaluation import POLICIES, GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.lateness import Lateness, lateness_of
from warren_core.judgement.membership import Membership, membership_after
from warren_core.judgement.state import GroupGone, GroupState

SECONDS = 1200
FLIP_S = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="of each script")
    parser.add_argument("--policy", choices=list(POLICIES), default="burrow")
    arguments = parser.parse_args()
    seeds, rules = arguments.seeds, GroupRules(Rules(policy=arguments.policy))
    matrix: dict[str, Counter[str]] = {}
    flips = 0
    for name, (_, script, settled) in SCRIPTS.items():
        found = matrix[name] = Counter()
        for seed in range(seeds):
            causes = told(script, seed, rules)
            flips += flips_of(causes)
            since = TROUBLE_S + settled
            found.update(cause for at, cause in causes.items() if at >= since and cause)
    right = wrong = unknown = 0
    for name, found in matrix.items():
        truth = SCRIPTS[name][0]
        said = ", ".join(f"{cause} {count}" for cause, count in found.most_common())
        print(f"{name:20} {truth or '-':20} {said or '-'}")
        hits = found[truth or ""]
        misses = found["unknown"] if truth != "unknown" else 0
        right, unknown = right + hits, unknown + misses
        wrong += found.total() - hits - misses
    total = max(right + wrong + unknown, 1)
    shares = {"right": right / total, "unknown": unknown / total, "wrong": wrong / total}
    rounded = {name: round(share, 4) for name, share in shares.items()}
    figures = {"judgements": total, **rounded, "flips": flips}
    print(json.dumps({"benchmark": "causes", "seeds": seeds, **figures}))


def _known(membership: Membership | None, lateness: Lateness | None) -> Knowledge:
    return Knowledge(lambda: membership, lambda: lateness)


def told(script: Script, seed: int, rules: GroupRules) -> dict[int, str]:
    """Cause of each judgement, by its second; empty where the group was OK."""
    state: GroupState | GroupGone | None = None
    membership: Membership | None = None
    lateness: Lateness | None = None
    causes: dict[int, str] = {}
    for event in observed(script, seed, SECONDS):
        if isinstance(event, GroupEvent):
            membership = membership_after(event, membership)
            continue
        if isinstance(event, FreshnessEvent):
            lateness = lateness_of(event)
            continue
        outcome = judge(
            event,
            state,
            rules,
            knowledge=_known(membership, lateness),
        )
        assert isinstance(outcome, Judged)
        state = outcome.state
        cause = outcome.lag.cause
        causes[(event.observed_at - START_MS) // 1000] = cause.name if cause else ""
    return causes


def flips_of(causes: dict[int, str]) -> int:
    """How often a cause gave way to another one, and was back within a minute."""
    began = [
        (at, cause) for (_, before), (at, cause) in pairwise(causes.items()) if cause != before
    ]
    return sum(
        bool(first and other) and first == again and until - since < FLIP_S
        for (_, first), (since, other), (until, again) in zip(
            began, began[1:], began[2:], strict=False
        )
    )


if __name__ == "__main__":
    main()
