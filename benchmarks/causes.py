"""How often the cause of a group's trouble is told rightly: a confusion matrix over scripts.

Each script (`support.scripted_groups`) is played with several seeds: numbers of members and
partitions, rates and commit intervals differ. Every judgement of a group that is not OK counts,
from when its cause can be told. Prints the matrix, then one JSON line.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter

from support.scripted_groups import SCRIPTS, START_MS, TROUBLE_S, Script, observed
from warren.contracts import FreshnessEvent, GroupEvent
from warren_core.evaluation import POLICIES, GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.lateness import Lateness, lateness_of
from warren_core.judgement.membership import Membership, membership_after
from warren_core.judgement.state import GroupGone, GroupState

SECONDS = 1200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="of each script")
    parser.add_argument("--policy", choices=list(POLICIES), default="burrow")
    arguments = parser.parse_args()
    seeds, rules = arguments.seeds, GroupRules(Rules(policy=arguments.policy))
    matrix: dict[str, Counter[str]] = {}
    for name, (_, script, settled) in SCRIPTS.items():
        found = matrix[name] = Counter()
        for seed in range(seeds):
            found += told(script, seed, TROUBLE_S + settled, rules)
        matrix[name] = found
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
    print(json.dumps({"benchmark": "causes", "seeds": seeds, "judgements": total, **rounded}))


def _known(membership: Membership | None, lateness: Lateness | None) -> Knowledge:
    return Knowledge(lambda: membership, lambda: lateness)


def told(script: Script, seed: int, since: int, rules: GroupRules) -> Counter[str]:
    """Causes of the judgements since this second."""
    state: GroupState | GroupGone | None = None
    membership: Membership | None = None
    lateness: Lateness | None = None
    causes: Counter[str] = Counter()
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
        if outcome.lag.cause and event.observed_at >= START_MS + since * 1000:
            causes[outcome.lag.cause.name] += 1
    return causes


if __name__ == "__main__":
    main()
