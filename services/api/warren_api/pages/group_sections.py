"""Sections of a group's page: partitions as cells and rows, members. Pure.

The class of a cell gives its colour and its shape, its title says the same in words: where the
trouble is, at a glance, also among 1,000. Keys pass over them: the rows to which they lead are in
the order of what to look at.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape
from warren.contracts import GroupMember
from warren.words import grouped, visible

from warren_api.context import ApiContext
from warren_api.group_row import GroupRow
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.partitions import PartitionRow, ShownPartitionStatusName, worst_rows
from warren_api.pages.trends import Trends, rates_of

CELLS_SHOWN = 2_000
ROWS_SHOWN = 500


class Partitions(NamedTuple):
    """Worst first: `rows` to look at, `fine` to fold. `cells`: `cell_count` of them, by topic and
    number.
    """

    rows: list[PartitionRow]
    fine: list[PartitionRow]
    cells: Markup
    cell_count: int
    counts: str

    @property
    def row_count(self) -> int:
        return len(self.rows) + len(self.fine)


def partitions_of(view: GroupView) -> Partitions:
    """What a page shows of a group's partitions."""
    ranked = sorted(
        view.partitions, key=lambda row: (_is_to_look_at(row), row.badness), reverse=True
    )
    listed = ranked[:ROWS_SHOWN]
    shown: Sequence[PartitionRow] = view.partitions
    if len(shown) > CELLS_SHOWN:
        shown = sorted(ranked[:CELLS_SHOWN], key=_place)
    linked = {_place(row) for row in listed}
    counts = (f"{grouped(count)} {status}" for status, count in view.partition_counts.items())
    return Partitions(
        rows=[row for row in listed if _is_to_look_at(row)],
        fine=[row for row in listed if not _is_to_look_at(row)],
        cells=Markup("").join(_cell(row, is_linked=_place(row) in linked) for row in shown),
        cell_count=len(shown),
        counts=", ".join(counts),
    )


def row_id(row: PartitionRow) -> str:
    """Of the partition's row on the page, and in a link to it: no character needs a quote."""
    return f"partition-{quote(row.topic, safe='')}-{row.partition}"


def _is_to_look_at(row: PartitionRow) -> bool:
    return row.status != "OK" or row.is_losing


def _place(row: PartitionRow) -> tuple[str, int]:
    return row.topic, row.partition


def _cell(row: PartitionRow, *, is_linked: bool) -> Markup:
    at_least = "at least " if row.is_lag_at_least else ""
    lag = "unknown" if row.lag is None else f"{at_least}{grouped(row.lag)}"
    loses = ", loses data" if row.is_losing else ""
    title = escape(f"{visible(row.topic)}/{row.partition}: {row.status}, lag {lag}{loses}")
    kind = row.status.lower()
    if not is_linked:
        return Markup(f'<span class="cell {kind}" title="{title}"></span>')
    return Markup(
        f'<a class="cell {kind}" href="#{escape(row_id(row))}" title="{title}" tabindex="-1"></a>'
    )


class MemberRow(NamedTuple):
    """`owned`: partitions that it is assigned; `status` of the worst of them and `lag` of all,
    None where it owns none that was judged.
    """

    member: GroupMember
    owned: int
    status: ShownPartitionStatusName | None
    lag: int | None


def member_rows(membership: Membership, partitions: Iterable[PartitionRow]) -> list[MemberRow]:
    """Worst partition first, then the largest lag; members without a partition last."""
    owned: defaultdict[str, list[PartitionRow]] = defaultdict(list)
    for partition in partitions:
        if partition.owner:
            owned[partition.owner.member_id].append(partition)

    def badness(member: GroupMember) -> tuple[tuple[int, int], int, str]:
        rows = owned[member.member_id]
        worst = max((row.badness for row in rows), default=(0, 0))
        return worst, sum(row.known_lag for row in rows), member.client_id

    ranked = sorted(membership.event.members, key=badness, reverse=True)
    return [_row(member, owned[member.member_id]) for member in ranked]


def _row(member: GroupMember, partitions: list[PartitionRow]) -> MemberRow:
    worst = max(partitions, key=lambda row: row.badness, default=None)
    known = [row.lag for row in partitions if row.lag is not None]
    return MemberRow(
        member,
        sum(len(assigned) for assigned in member.assignment.values()),
        worst.status if worst else None,
        sum(known) if known else None,
    )


WORST_SHOWN = 3  # partitions of a group that is unfolded


def group_row_html(
    templates: Environment, trends: Trends, context: ApiContext, back: str, row: GroupRow
) -> Markup:
    """Its line, and what it unfolds into. `back`: the list, as it was asked for."""
    view, now = row.view, row.present.now
    is_old = now - view.event.evaluated_at > context.stale_after_ms
    macros = templates.get_template("group_row.html").module
    told: Markup = macros.told(  # type: ignore[attr-defined]  # a macro of the template
        row,
        now,
        is_old,
        context.is_freshness_stale(view),
        trends.spark(view.cluster, view.group, now),
        rates_of(view) if row.verdict.status == "OK" else None,
        worst_rows(view.event, WORST_SHOWN),
        back,
    )
    since: Markup = macros.since(row, now, is_old)  # type: ignore[attr-defined]  # likewise
    return told + since
