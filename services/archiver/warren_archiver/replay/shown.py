"""A replay on a terminal."""

from collections import Counter
from dataclasses import asdict
from statistics import median

from rich.console import Group
from rich.text import Text
from warren.words import duration, utc

from warren_archiver.replay.incidents import FLAP_MS, GroupKey, Incident, Pair
from warren_archiver.replay.replay import Replay
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
    # Those with the most that differs first.
    found: dict[GroupKey, list[Pair]] = {}
    for pair in replay.pairs:
        found.setdefault(pair.group, []).append(pair)
    order = sorted(found, key=lambda key: (-sum(pair.kind != "same" for pair in found[key]), key))
    for key in order:
        table.row(*key, *_figures(found[key]))
    table.add_section()
    table.row("", "all", *_figures(replay.pairs))
    note = (
        "told: incidents as published; then: as they would have been. A flap is over within "
        f"{duration(FLAP_MS)}. Sooner by: the median of those told both ways, negative for later."
    )
    return Group(heading, table, Text(note, style="dim"))


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
    return {"incident_id": incident.incident_id, **asdict(incident)} if incident else None


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
