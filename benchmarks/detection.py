"""How well each rule tells trouble from health: simulated partitions with the truth known.

Kinds of partitions (support/detection), drawn from seeds; the evaluator's own judgement sees what a
collector would see, and static rules stand beside. Seeds below 100 are for development, those from
100 on (`--report`) for reporting: nothing may be tuned by them. `--kinds reported` is never looked
at but for its figures. Prints one JSON line; the scores are defined in support/detection/scores.py.
`--ablate` says what each rule of policy `progress` is worth: points of F1 that are lost without it.
"""

import argparse
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.detection.partitions import HOUR, Partition
from support.detection.practice import DEVELOPED, REPORTED
from support.detection.rhythms import RHYTHMS
from support.detection.rules import by_age, by_own_age, by_policy, by_progress
from support.detection.scenarios import SCENARIOS, draw_partitions
from support.detection.scores import Tally, score
from support.detection.simulation import Ints, Recording, play
from warren_core.evaluation import POLICIES
from warren_core.evaluation.progress import RULES

DEVELOPMENT, REPORTING = (1, 2, 3), (101, 102, 103)
KINDS = {
    "scenarios": SCENARIOS,
    "rhythms": RHYTHMS,
    "developed": DEVELOPED,
    "reported": REPORTED,
}
PAGE = Path(__file__).parents[1] / "docs/evaluation.md"
# Between them stands what rules are worth; `make check` reads it (docs/warren_docs/budgets.py).
BEGIN, END = "<!-- worth -->\n", "<!-- end of worth -->"
DRAWN = {name: draw for kinds in KINDS.values() for name, draw in kinds.items()}
STATIC = {
    "oldest unread > 300 s": by_age,
    "oldest unread > twice its p99": by_own_age,
}


def main() -> None:
    arguments = _arguments()
    if arguments.ablate:
        _ablate(arguments)
        return
    seconds = round(arguments.hours * HOUR)
    rules = arguments.rules or [*POLICIES, *STATIC]
    tallies: dict[str, dict[str, Tally]] = {rule: defaultdict(Tally) for rule in rules}
    for seed in arguments.seeds:
        partitions = _drawn(seed, arguments, seconds, arguments.kinds)
        recording = play(partitions, seconds, seed, arguments.interval)
        for rule in rules:
            said = _said(rule, recording, members=not arguments.without_members)
            found = score(recording, said, [each.scenario for each in partitions])
            for scenario, tally in found.items():
                tallies[rule][scenario].add(tally)
    result: dict[str, Any] = {
        "benchmark": "detection",
        "seeds": arguments.seeds,
        "interval": arguments.interval,
        "members": not arguments.without_members,
        "partition_hours": sum(each.partition_hours for each in tallies[rules[0]].values()),
        "rules": {rule: _all(tallies[rule]).figures() for rule in rules},
    }
    print(json.dumps(result))
    if arguments.details:
        for rule in rules:
            print(f"# {rule}", file=sys.stderr)
            for scenario, tally in tallies[rule].items():
                print(f"  {scenario:20} {tally.figures()}", file=sys.stderr)


def _ablate(arguments: argparse.Namespace) -> None:
    worth = {kinds: _worth(arguments, kinds) for kinds in arguments.kinds}
    rows = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, seeds {', '.join(map(str, arguments.seeds))}, "
        f"{arguments.repeats} partitions of each kind, {arguments.hours:g} h.",
        "",
        " | ".join(["| rule", *worth]) + " |",
        "|---" * (1 + len(worth)) + "|",
        *(
            " | ".join([f"| {rule.name}", *(str(by[rule.name]) for by in worth.values())]) + " |"
            for rule in RULES
        ),
    ]
    if arguments.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text("\n".join([before + BEGIN, *rows, "", END + rest.split(END)[1]]))
    print(json.dumps({"benchmark": "ablation", "seeds": arguments.seeds, "worth": worth}))


def _worth(arguments: argparse.Namespace, kinds: str) -> dict[str, float]:
    """By rule: points of F1 that are lost without it."""
    seconds, seeds = round(arguments.hours * HOUR), arguments.seeds
    drawn = [_drawn(seed, arguments, seconds, [kinds]) for seed in seeds]
    together = Recording.joined(
        [
            play(each, seconds, seed, arguments.interval)
            for seed, each in zip(seeds, drawn, strict=True)
        ]
    )
    scenarios = [each.scenario for partitions in drawn for each in partitions]

    def f1(rules: str) -> float:
        figures = _all(score(together, by_progress(together), scenarios)).figures()
        print(f"{kinds} {rules:20} {figures}", file=sys.stderr)
        return 100 * figures["f1"]

    whole, worth = f1("all rules"), {}
    for rule in RULES:
        rule.on = False
        worth[rule.name] = round(whole - f1(f"without {rule.name}"), 1)
        rule.on = True
    return worth


def _drawn(
    seed: int, arguments: argparse.Namespace, seconds: int, kinds: list[str]
) -> list[Partition]:
    return draw_partitions(
        seed,
        arguments.repeats,
        seconds,
        DRAWN,
        arguments.scenarios or {name for each in kinds for name in KINDS[each]},
        arguments.share_of_faults,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--seeds", type=int, nargs="+", default=DEVELOPMENT, help=f"{DEVELOPMENT} by default"
    )
    parser.add_argument("--ablate", action="store_true", help="without one rule after the other")
    parser.add_argument("--write", action="store_true", help="that, into docs/evaluation.md")
    chosen.add_argument(
        "--report", action="store_const", const=REPORTING, dest="seeds", help=f"seeds {REPORTING}"
    )
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--repeats", type=int, default=3, help="partitions of each scenario")
    parser.add_argument(
        "--share-of-faults",
        type=float,
        default=1.0,
        help="the fewer break, the more of what is said is false; health stays as it is",
    )
    parser.add_argument("--interval", type=int, default=5, help="seconds between observations")
    parser.add_argument("--without-members", action="store_true", help="nobody may look at them")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["scenarios"])
    parser.add_argument("--scenarios", nargs="+", choices=DRAWN, help="some alone, of any kind")
    parser.add_argument("--rules", nargs="+", choices=[*POLICIES, *STATIC])
    parser.add_argument("--details", action="store_true", help="by scenario, on standard error")
    return parser.parse_args()


def _said(rule: str, recording: Recording, *, members: bool) -> Ints:
    for policy in POLICIES:
        if policy == rule:
            return by_policy(recording, policy, members=members)
    return STATIC[rule](recording)


def _all(tallies: dict[str, Tally]) -> Tally:
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    return total


if __name__ == "__main__":
    main()
