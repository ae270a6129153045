"""What the statuses of a topic's readers say of the topic. Pure."""

from __future__ import annotations

from typing import NamedTuple

from warren.words import counted, grouped


class Readers(NamedTuple):
    """`failing`: how many; `so`: what that says of the topic."""

    failing: str
    so: str
    are_all: bool


def readers(groups: int, failing: int, unknown: int) -> Readers | None:
    """None where there is nothing to compare: one group, or none that fails. `unknown`: of the
    others, those that nobody has judged lately.
    """
    if groups < 2 or not failing:
        return None
    if failing == groups:
        said = f"All {counted(groups, 'group')} are failing"
        return Readers(said, "look at its producers and brokers first", are_all=True)
    said = f"{grouped(failing)} of {counted(groups, 'group')} {_is(failing)} failing"
    well = groups - failing - unknown
    others = f"{grouped(unknown)} {_is(unknown)} unknown" if unknown else ""
    if well:
        who = "the other" if well + unknown == 1 else f"{'' if unknown else 'the other '}{well:,}"
        consumers = "consumer is" if failing == 1 else "consumers are"
        keep = f"{who} {'keeps' if well == 1 else 'keep'} up{', ' if others else ''}{others}"
        return Readers(said, f"{keep}; the topic is fine, the {consumers} not", are_all=False)
    return Readers(said, others, are_all=False)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
