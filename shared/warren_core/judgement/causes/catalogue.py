"""The catalogue of causes: each registers itself, with its words.

A root is what somebody has to mend first. A consequence needs a root, known or not: it is told
second where one is known, and first where none is. `unknown` where the facts speak for nothing.

A wrong cause sends people the wrong way, so each asks for evidence that others do not have.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from warren.contracts.cause import Cause, CauseEvidence, Finding
from warren.words import counted, duration, grouped, rates

from warren_core.evaluation.presence import Presence
from warren_core.judgement.facts import Facts, Pace

BOOTSTRAP = '--bootstrap-server "$BOOTSTRAP"'
"""Where the cluster is, the reader knows: commands are ready to run once that is set."""

Kind = Literal["root", "consequence"]


class Found(NamedTuple):
    """What a cause says of a group: the sentence with its figures, what to do, the evidence."""

    sentence: str
    action: str | None
    evidence: CauseEvidence


Find = Callable[[Facts], Found | None]


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A cause that Warren can tell."""

    name: str
    """As events carry it; that of the function."""
    kind: Kind
    rank: int
    """Roots: the lowest that the facts speak for is told, so what others may look like comes
    later. Consequences: all are told, the gravest, with the lowest, first."""
    short: str
    """Four to seven words, without figures."""
    when: str
    """What has to be so, in words."""
    find: Find


CATALOGUE: dict[str, KnownCause] = {}


def cause(kind: Kind, rank: int, short: str, when: str) -> Callable[[Find], Find]:
    """Register the function under its name; see `KnownCause`."""

    def register(find: Find) -> Find:
        name = find.__name__
        taken = {(known.kind, known.rank) for known in CATALOGUE.values()}
        if name in CATALOGUE or (kind, rank) in taken:
            raise ValueError(f"{name}: the name or the rank {rank} is taken")
        CATALOGUE[name] = KnownCause(name, kind, rank, short, when, find)
        ranked.cache_clear()
        return find

    return register


@cache
def ranked(kind: Kind) -> list[KnownCause]:
    """Of this kind, in the order in which they are looked for."""
    of_kind = (known for known in CATALOGUE.values() if known.kind == kind)
    return sorted(of_kind, key=lambda known: known.rank)


def found(sentence: str, action: str | None = None, **evidence: object) -> Found:
    """Make what was found, with the evidence as fields of CauseEvidence."""
    return Found(sentence, action, CauseEvidence.model_construct(None, **evidence))


def found_at(
    facts: Facts, rows: list[int], sentence: str, action: str, **evidence: object
) -> Found:
    """The same of these rows: which is the first of them, and how many there are."""
    topic, partition = facts.state.layout.name(rows[0])
    of_rows = {"topic": topic, "partition": partition, "partitions": len(rows)}
    return found(sentence, action, **of_rows, **evidence)


def found_at_pace(sentence: str, action: str, pace: Pace, **evidence: object) -> Found:
    """The same of a group that moves, with how fast."""
    return found(
        sentence,
        action,
        partitions=pace.partitions,
        consumed_per_s=round(pace.consumed, 3),
        produced_per_s=round(pace.produced, 3),
        **evidence,
    )


def find_cause(facts: Facts) -> Cause:
    """Say what is wrong with a group that is not OK, the root first."""
    root = next(_seen("root", facts), None)
    consequences = _seen("consequence", facts)
    first = (
        root
        or next(consequences, None)
        or _finding("unknown", "Cause not clear yet", _unknown(facts))
    )
    return Cause(
        name=first.name,
        sentence=first.sentence,
        short=first.short,
        action=first.action,
        evidence=first.evidence,
        also=list(consequences),
    )


def _seen(kind: Kind, facts: Facts) -> Iterator[Finding]:
    for known in ranked(kind):
        if (said := known.find(facts)) is not None:
            yield _finding(known.name, known.short, said)


def _finding(name: str, short: str, said: Found) -> Finding:
    return Finding(
        name=name,
        sentence=said.sentence,
        short=short,
        action=said.action,
        evidence=said.evidence,
    )


def _unknown(facts: Facts) -> Found:
    group = facts.membership
    seen = ""
    if facts.presence is Presence.NOBODY:
        seen = "; no members any more" if group and group.members else ""
    elif group is not None and group.members:
        seen = f"; {counted(len(group.members), 'member')}"
    elif group is not None and not group.managed:
        seen = "; no members: its consumers assign partitions to themselves, or none runs"
    late_ms = facts.late_ms
    late = f"; {duration(late_ms)} late" if late_ms else ""
    sentence = f"Cause not clear yet: {listed(facts, facts.bad)} not OK{seen}{late}"
    return found(sentence, "Check that its consumers run, and what they log", freshness_ms=late_ms)


def listed(facts: Facts, rows: list[int]) -> str:
    """`orders/0 and 3 more`"""
    more = f" and {grouped(len(rows) - 1)} more" if len(rows) > 1 else ""
    return f"{facts.state.layout.label(rows[0])}{more}"


def address(host: str | None) -> str:
    """Java writes a slash before it where there is no name."""
    return (host or "an unknown host").removeprefix("/")


def against(pace: Pace) -> str:
    """How fast it reads, and how fast is written, in one unit: `reads 10/s, 40/s written`."""
    consumed, produced = rates(pace.consumed, pace.produced)
    return f"reads {consumed}, {produced} written"


def times(factor: float) -> str:
    return f"{factor:.1f} times" if factor < 10 else f"{grouped(round(factor))} times"
