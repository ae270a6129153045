"""Suggestions: for each noisy group the smallest change of settings that silences its flapping
without losing an incident that lasted, and what its owner may say of it, with what that would have
silenced and missed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren_archiver.replay.incidents import GroupKey, Incident, Pair, paired
from warren_archiver.report.period import Period

NOISE = 3
"""So many flaps in the period make a group noisy; of one with so many incidents its owner may know
that they are usual."""
MUCH = 0.5
"""So does this share of the period in trouble."""
_LONGER = tuple(f"evaluation.intervals={count}" for count in (15, 20, 30, 40))
_ALLOWED = tuple(f"evaluation.allowed_lag={lag}" for lag in (10, 100, 1_000, 10_000, 100_000))
_LATER = tuple(f'evaluation.expected_delay="{span}"' for span in ("1m", "5m", "15m", "1h"))
_RUNS = tuple(f'evaluation.expected_every="{span}"' for span in ("1h", "24h", "7d"))
_IGNORED = "evaluation.ignore=true"
_PROGRESS, _BURROW = 'evaluation.policy="progress"', 'evaluation.policy="burrow"'
_WORDS = (*_LATER, *_RUNS, _IGNORED)
"""What only the owner can say."""
CANDIDATES = (*_LONGER, *_ALLOWED, *_LATER, *_RUNS, _PROGRESS, _BURROW, _IGNORED)
"""From the smallest: longer windows tell later, an allowed lag keeps silent about small ones, then
comes what only the owner can say, another policy is another language, and who is ignored is not
judged."""

Judge = Callable[[str, Collection[GroupKey]], Sequence[Incident]]
"""What these groups would have told, with this change."""
PolicyOf = Callable[[GroupKey], str]
"""By which policy a group is judged."""


@dataclass(frozen=True, slots=True)
class Word:
    """What an owner may say of a group, and what would have been told then."""

    change: str
    """As for `--set`."""
    silenced: int
    """Flaps that would not have been told."""
    missed: int
    """Likewise, incidents that lasted."""
    longest_missed_ms: int
    raised: int
    """Incidents that would have been told beside those that were."""


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

    words: tuple[Word, ...] = ()
    """The best of each setting: `expected_delay`, `expected_every`, `ignore`."""

    def override(self, change: str) -> str:
        """What to write into warren.toml, above other overrides: the first that names a setting
        counts."""
        name = json.dumps(f"^{re.escape(self.group)}$")
        cluster = json.dumps(f"^{re.escape(self.cluster)}$")
        setting = change.removeprefix("evaluation.").replace("=", " = ", 1)
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
    published: Sequence[Incident], judge: Judge, policy_of: PolicyOf, period: Period
) -> list[Suggestion]:
    """For all noisy groups, the noisiest first."""
    end_ms = period.end_ms
    told = _by_group(one for one in published if not one.is_undecided(end_ms))
    flaps = Counter({key: sum(one.is_flap for one in each) for key, each in told.items()})
    todo = {key for key, count in flaps.items() if count >= NOISE}
    often = {key for key, each in told.items() if _is_often(each, period)}
    noisy = sorted(todo | often, key=lambda key: (-flaps[key], -len(told[key]), key))
    cures: dict[GroupKey, tuple[str | None, int]] = {}
    words: dict[GroupKey, list[Word]] = {key: [] for key in noisy}
    for change in CANDIDATES:
        to_ask = todo | often if change in _WORDS else todo
        asked = {key for key in to_ask if change in candidates(policy_of(key))}
        if not asked:
            continue
        replayed = _by_group(judge(change, asked))
        for key in sorted(asked):
            then = replayed.get(key, [])
            if change in _WORDS:
                words[key].append(_word(change, paired(told[key], then, end_ms)))
            sooner = _sooner(told[key], then, end_ms)
            if key in todo and sooner is not None:
                cures[key] = change, sooner
                todo.discard(key)
    found = []
    for key in noisy:
        cure, sooner_ms = cures.get(key, (None, 0))
        lasting = len(told[key]) - flaps[key]
        best = tuple(_best(words[key]))
        found.append(Suggestion(*key, flaps[key], lasting, cure, sooner_ms, best))
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


def _is_often(told: Sequence[Incident], period: Period) -> bool:
    if len(told) >= NOISE:
        return True
    ends = [(one, period.end_ms if one.closed_at is None else one.closed_at) for one in told]
    open_ms = sum(end - max(one.opened_at, period.start_ms) for one, end in ends)
    return open_ms >= MUCH * period.length_ms


def _word(change: str, pairs: Sequence[Pair]) -> Word:
    gone = [pair.published for pair in pairs if pair.published and pair.replayed is None]
    lasted = [one for one in gone if not one.is_flap]
    lengths = [one.closed_at - one.opened_at for one in lasted if one.closed_at is not None]
    raised = sum(pair.published is None for pair in pairs)
    return Word(change, len(gone) - len(lasted), len(lasted), max(lengths, default=0), raised)


def _best(words: Sequence[Word]) -> Iterator[Word]:
    """Of each setting the one that misses least, then silences most, then adds least; none of one
    that silences nothing.
    """
    of: dict[str, list[Word]] = {}
    for each in words:
        if each.silenced or each.missed:
            of.setdefault(each.change.partition("=")[0], []).append(each)
    for alike in of.values():
        yield min(alike, key=lambda word: (word.missed, -word.silenced, word.raised))


def _by_group(incidents: Iterable[Incident]) -> dict[GroupKey, list[Incident]]:
    found: dict[GroupKey, list[Incident]] = {}
    for one in incidents:
        found.setdefault((one.cluster, one.group), []).append(one)
    return found
