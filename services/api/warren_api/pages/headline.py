"""How groups stand, in a few words: the line above their list, and what the statuses of a topic's
readers say of the topic. Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple

from warren.words import counted, grouped

Totals = dict[str, int]


def no_groups() -> Totals:
    return {"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 0}


class Standings(NamedTuple):
    """How many groups there are of each kind. Times in Unix milliseconds."""

    groups: int
    """Found by the search: all below are among them."""
    of_all: int
    urgent: int
    """Somebody has to act, and nobody has said that they do."""
    handled: int
    """Not OK, and acknowledged or silenced."""
    warned: int
    losing: int
    """Of all kinds, those that are handled among them, as the next ones."""
    endangered: int
    first_loss_at: int | None
    """Of those that are endangered; None where that is not known."""
    unknown: int
    """Of those that were well; the others count as they were last judged."""
    away: Sequence[tuple[str, str]]
    """Clusters that cannot be read, each with its state."""
    clusters: int
    losing_handled: int = 0


class Part(NamedTuple):
    """A few words, and a time that ends them, where there is one."""

    words: str
    at: int | None = None


def headline(of: Standings, now: int) -> list[Part]:
    """What is said, the most urgent first; `now` in Unix milliseconds."""
    parts = []
    if of.groups < of.of_all:
        parts.append(Part(f"{grouped(of.groups)} of {counted(of.of_all, 'group')} found"))
    if not of.groups:
        return parts
    if of.unknown == of.groups:
        return [*parts, _no_data(of)]
    needs = "needs" if of.urgent == 1 else "need"
    said = f"{grouped(of.urgent)} {needs} action" if of.urgent else "No group needs action"
    parts.append(Part(said))
    if of.losing:
        handled = f" ({grouped(of.losing_handled)} handled)" if of.losing_handled else ""
        parts.append(Part(f"{grouped(of.losing)} losing data{handled}"))
    if of.endangered:
        parts.append(_endangered(of, now))
    if of.warned:
        parts.append(Part(counted(of.warned, "warning")))
    if of.handled:
        parts.append(Part(f"{grouped(of.handled)} handled"))
    if of.unknown:
        parts.append(Part(f"{grouped(of.unknown)} unknown"))
    return parts


def spoken(totals: Totals) -> str:
    """How many groups have which status, as it is read aloud when that changes."""
    unknown = f"{grouped(totals['UNKNOWN'])} of unknown status, " if totals["UNKNOWN"] else ""
    return (
        f"{counted(totals['ERR'], 'group')} with errors, {grouped(totals['WARN'])} with warnings, "
        f"{unknown}{grouped(totals['OK'])} OK"
    )


def _endangered(of: Standings, now: int) -> Part:
    who = f"{grouped(of.endangered)}{' more' if of.losing else ''}"
    if of.first_loss_at is None:
        return Part(f"{who} about to lose data")
    is_one = of.endangered == 1
    if of.first_loss_at <= now:
        return Part(f"{who} about to lose data ({'now' if is_one else 'the first now'})")
    does = "" if of.losing else " loses data" if is_one else " lose data"
    return Part(f"{who}{does}{' at' if is_one else ', the first at'}", of.first_loss_at)


def _no_data(of: Standings) -> Part:
    if len(of.away) == of.clusters:
        what = "the cluster is" if of.clusters == 1 else "every cluster is"
        return Part(f"No data: {what} unreachable")
    return Part(f"No data: the status of {counted(of.groups, 'group')} is unknown")


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
