"""A replay on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from rich.console import Group
from rich.text import Text
from warren.words import counted, duration, utc

from warren_archiver.replay.broken import Broken
from warren_archiver.replay.incidents import FLAP_MS, GroupKey, Incident, Pair
from warren_archiver.replay.labels import Score
from warren_archiver.replay.replay import Replay
from warren_archiver.replay.suggestions import NOISE, Suggestion, Word
from warren_archiver.report.period import Period
from warren_archiver.text_table import TextTable

KINDS = ("raised", "missed", "sooner", "later")


def render(replay: Replay) -> Group:
    """The period, a row for each group that has an incident, and the sums."""
    period = replay.period
    heading = Text.assemble(
        (f"{utc(period.start_ms)} to {utc(period.end_ms)}", "bold"),
        f", {replay.events:,} offset events judged",
    )
    figures = ("told", "then", "flaps", "then", *KINDS, "sooner by")
    table = TextTable(("CLUSTER", "GROUP"), figures)
    for key, pairs in _by_group(replay).items():
        table.row(*key, *_figures(pairs))
    table.add_section()
    table.row("", "all", *_figures(replay.pairs))
    note = (
        "told: incidents as published; then: as they would have been. A flap is over within "
        f"{duration(FLAP_MS)}. Sooner by: the median of those told both ways, negative for later."
    )
    return Group(heading, table, Text(note, style="dim"))


def render_broken(found: Sequence[Broken], period: Period) -> Group | Text:
    """A row for each group and limit: how often, how long in all, and what was said at first."""
    heading = Text(f"{utc(period.start_ms)} to {utc(period.end_ms)}", style="bold")
    if not found:
        return Text.assemble(heading, ": all of these objectives would have been kept")
    names = ("CLUSTER", "GROUP", "OBJECTIVE", "LIMIT")
    table = TextTable(names, ("times", "in all"), ["the first time"])
    rows: dict[tuple[str, str, str, str], list[Broken]] = {}
    for one in found:
        rows.setdefault((one.cluster, one.group, one.objective, one.limit), []).append(one)
    for key, times in sorted(rows.items(), key=lambda row: (-len(row[1]), row[0])):
        spent = sum(
            min(one.until or period.end_ms, period.end_ms) - max(one.since, period.start_ms)
            for one in times
        )
        table.row(*key, str(len(times)), duration(spent), times[0].sentence)
    return Group(heading, table)


def render_suggestions(found: Sequence[Suggestion]) -> Group | Text:
    """A row for each noisy group, and what to write into warren.toml."""
    if not found:
        return Text(f"no group had {NOISE} incidents, or was in trouble for half of the time")
    table = TextTable(("CLUSTER", "GROUP"), ("flaps", "lasting"))
    table.add_column("change", no_wrap=True)
    table.add_column("lasting ones later by", justify="right")
    for one in found:
        later = duration(-one.sooner_ms) if one.sooner_ms < 0 else ""
        change = one.change or "none of those tried"
        table.row(one.cluster, one.group, str(one.flaps), str(one.lasting), change, later)
    cures = [one.override(one.change) for one in found if one.change is not None]
    words = [
        f"# {_said(word, one)}\n{one.override(word.change)}"
        for one in found
        for word in one.words
        if word.change != one.change
    ]
    above = Text("Above other overrides, as the first that names a setting counts:", style="dim")
    owners = Text("Or what only the owner of a group knows, one for each group:", style="dim")
    return Group(
        table,
        Text(),
        *([above, *map(Text, cures)] if cures else []),
        *([owners, *map(Text, words)] if words else []),
    )


def _said(word: Word, of: Suggestion) -> str:
    """`silences 3 of 3 flaps; misses 1 of 2 that lasted, the longest 1h; adds 2`."""
    missed = f"misses {word.missed} of {of.lasting} that lasted"
    if word.longest_missed_ms:
        missed += f", the longest {duration(word.longest_missed_ms)}"
    added = f"; adds {word.raised}" if word.raised else ""
    return f"silences {word.silenced} of {counted(of.flaps, 'flap')}; {missed}{added}"


def render_scores(published: Score, replayed: Score) -> TextTable:
    """How well what was told, and what would have been, fits what is labelled."""
    counts = ("faults", "found", "false")
    shares = ("precision", "recall", "F1", "delay", "told", "flaps/100 h")
    table = TextTable(["BESIDE THE LABELS"], (*counts, *shares))
    for name, score in (("as told", published), ("as it would have been", replayed)):
        delay = score.delay_median_ms
        table.row(
            name,
            *map(str, (score.faults, score.found, score.false)),
            *(f"{share:.2f}" for share in (score.precision, score.recall, score.f1)),
            "" if delay is None else duration(delay),
            f"{100 * score.told:.0f} %",
            f"{score.flaps_per_100_h:.1f}",
        )
    return table


def scores_as_json(published: Score, replayed: Score) -> dict[str, object]:
    """By `published` and `replayed`."""
    both = {"published": published, "replayed": replayed}
    return {
        name: {
            **asdict(score),
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.f1,
        }
        for name, score in both.items()
    }


def as_json(replay: Replay) -> dict[str, object]:
    """What `--json` prints; times are Unix milliseconds."""
    flaps, replayed_flaps = replay.flaps
    return {
        "from_ms": replay.period.start_ms,
        "to_ms": replay.period.end_ms,
        "warm_up_ms": replay.warm_up_ms,
        "events": replay.events,
        "published": len(replay.published),
        "replayed": len(replay.replayed),
        "published_flaps": flaps,
        "replayed_flaps": replayed_flaps,
        **{kind: replay.count(kind) for kind in (*KINDS, "same")},
        "incidents": [
            {
                "cluster": pair.group[0],
                "group": pair.group[1],
                "kind": pair.kind,
                "sooner_ms": pair.sooner_ms,
                "published": _incident(pair.published),
                "replayed": _incident(pair.replayed),
            }
            for pair in replay.pairs
        ],
    }


def _incident(incident: Incident | None) -> dict[str, object] | None:
    if incident is None:
        return None
    return {
        "incident_id": incident.incident_id,
        "opened_at": incident.opened_at,
        "closed_at": incident.closed_at,
        "worst": incident.worst,
        "reason": incident.reason,
    }


def _by_group(replay: Replay) -> dict[GroupKey, list[Pair]]:
    """Those with the most that differs first."""
    found: dict[GroupKey, list[Pair]] = {}
    for pair in replay.pairs:
        found.setdefault(pair.group, []).append(pair)
    order = sorted(found, key=lambda key: (-_differing(found[key]), key))
    return {key: found[key] for key in order}


def _differing(pairs: list[Pair]) -> int:
    return sum(pair.kind != "same" for pair in pairs)


def _figures(pairs: list[Pair]) -> list[str]:
    published = [pair.published for pair in pairs if pair.published is not None]
    replayed = [pair.replayed for pair in pairs if pair.replayed is not None]
    kinds = Counter(pair.kind for pair in pairs)
    moved = [pair.sooner_ms for pair in pairs if pair.published and pair.replayed]
    by = median(moved) if moved else 0
    return [
        str(len(published)),
        str(len(replayed)),
        _number(sum(one.is_flap for one in published)),
        _number(sum(one.is_flap for one in replayed)),
        *(_number(kinds[kind]) for kind in KINDS),
        f"{'-' if by < 0 else ''}{duration(abs(by))}" if by else "",
    ]


def _number(count: int) -> str:
    return str(count) if count else ""
