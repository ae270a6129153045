"""The words that causes share."""

from __future__ import annotations

from warren.contracts.cause import CauseEvidence, CauseName, Finding
from warren.words import grouped

from warren_core.judgement.facts import Facts

BOOTSTRAP = '--bootstrap-server "$BOOTSTRAP"'
"""Where the cluster is, the reader knows: commands are ready to run once that is set."""


def finding(
    name: CauseName, sentence: str, action: str | None = None, **evidence: object
) -> Finding:
    """Make what was found, with the evidence as fields of CauseEvidence."""
    return Finding(
        name=name,
        sentence=sentence,
        action=action,
        evidence=CauseEvidence.model_construct(None, **evidence),
    )


def listed(facts: Facts, rows: list[int]) -> str:
    if len(rows) == 1:
        return facts.name(rows[0])
    return f"{facts.name(rows[0])} and {grouped(len(rows) - 1)} more"


def has(rows: list[int]) -> str:
    return "has" if len(rows) == 1 else "have"
