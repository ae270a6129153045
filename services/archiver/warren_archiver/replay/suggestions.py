"""Suggestions: for each noisy group the smallest change of settings that silences its flapping
without losing an incident that lasted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from warren_archiver.replay.incidents import GroupKey, Incident, paired

NOISE = 3
"""So many flaps in the period make a group noisy."""
_LONGER = tuple(f"evaluation.intervals={count}" for count in (15, 20, 30, 40))
_ALLOWED = tuple(f"evaluation.allowed_lag={lag}" for lag in (10, 100, 1_000, 10_000, 100_000))
_LATER = tuple(f'evaluation.expected_delay="{span}"' for span in ("1m", "5m", "15m", "1h"))
_RUNS = tuple(f'evaluation.expected_every="{span}"' for span in ("1h", "24h", "7d"))
_IGNORED = "evaluation.ignore=true"
_PROGRESS, _BURROW = 'evaluation.policy="progress"', 'evaluation.policy="burrow"'
CANDIDATES = (*_LONGER, *_ALLOWED, *_LATER, *_RUNS, _PROGRESS, _BURROW, _IGNORED)
"""From the smallest: longer windows tell later, an allowed lag keeps silent about small ones, then
comes what only the owner can say, another policy is another language, and who is ignored is not
judged."""

Judge = Callable[[str, Collection[GroupKey]], Sequence[Incident]]
"""What these groups would have told, with this change."""
PolicyOf = Callable[[GroupKey], str]
"""By which policy a group is judged."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Of one noisy group."""

    cluster: str
    group: str
    flaps: int
    lasting: int
    """Incidents that were no flaps."""
    change: str | None
    """As for `--set`; None where none of the candidates does."""
    sooner_ms: int
    """Of those that lasted, the one that would have been told latest: how much sooner that is,
    negative for later."""

    def override(self) -> str | None:
        """What to write into warren.toml, above other overrides: the first that names a setting
        counts."""
        if self.change is None:
            return None
        name = json.dumps(f"^{re.escape(self.group)}$")
        cluster = json.dumps(f"^{re.escape(self.cluster)}$")
        setting = self.change.removeprefix("evaluation.").replace("=", " = ", 1)
        return f"[[evaluation.overrides]]\nclusters = [{cluster}]\ngroups = [{name}]\n{setting}\n"


def candidates(policy: str) -> tuple[str, ...]:
    """Those of `CANDIDATES` that change anything for a group that is judged by this policy.

    `progress` reads no windows. Others know how late a partition is from freshness alone, which a
    replay of offsets has not.
    """
    if policy == "progress":
        return (*_ALLOWED, *_LATER, *_RUNS, _BURROW, _IGNORED)
    return (*_LONGER, *_ALLOWED, *_RUNS, _PROGRESS, _IGNORED)


def suggestions(
    published: Sequence[Incident], judge: Judge, policy_of: PolicyOf, end_ms: int
) -> list[Suggestion]:
    """For all noisy groups, the noisiest first."""
    told = _by_group(one for one in published if not one.is_undecided(end_ms))
    flaps = Counter({key: sum(one.is_flap for one in each) for key, each in told.items()})
    todo = {key for key, count in flaps.items() if count >= NOISE}
    noisy = sorted(todo, key=lambda key: (-flaps[key], key))
    cures: dict[GroupKey, tuple[str | None, int]] = {}
    for change in CANDIDATES:
        asked = {key for key in todo if change in candidates(policy_of(key))}
        if not asked:
            continue
        replayed = _by_group(judge(change, asked))
        for key in sorted(asked):
            sooner = _sooner(told[key], replayed.get(key, []), end_ms)
            if sooner is not None:
                cures[key] = change, sooner
                todo.discard(key)
    found = []
    for key in noisy:
        cure, sooner_ms = cures.get(key, (None, 0))
        lasting = len(told[key]) - flaps[key]
        found.append(Suggestion(*key, flaps[key], lasting, cure, sooner_ms))
    return found


def _sooner(told: Sequence[Incident], replayed: Sequence[Incident], end_ms: int) -> int | None:
    """None when it still flaps, or when one that lasted is not told."""
    if any(one.is_flap for one in replayed):
        return None
    lasting = [one for one in told if not one.is_flap]
    pairs = [pair for pair in paired(lasting, replayed, end_ms) if pair.published is not None]
    if any(pair.replayed is None for pair in pairs):
        return None
    return min((pair.sooner_ms for pair in pairs), default=0)


def _by_group(incidents: Iterable[Incident]) -> dict[GroupKey, list[Incident]]:
    found: dict[GroupKey, list[Incident]] = {}
    for one in incidents:
        found.setdefault((one.cluster, one.group), []).append(one)
    return found
