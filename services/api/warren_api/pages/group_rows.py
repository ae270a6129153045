"""Rows of the list of groups as HTML."""

from jinja2 import Environment
from markupsafe import Markup

from warren_api.context import ApiContext
from warren_api.group_row import GroupRow
from warren_api.model.partitions import worst_rows
from warren_api.pages.sentences import commands
from warren_api.pages.trends import Trends, rates_of

WORST_SHOWN = 3  # partitions of a group that is unfolded


def group_row_html(
    templates: Environment, trends: Trends, context: ApiContext, row: GroupRow
) -> Markup:
    """Its line, and what it unfolds into."""
    view, now = row.view, row.asked.now
    is_old = now - view.event.evaluated_at > context.stale_after_ms
    macros = templates.get_template("group_row.html").module
    told: Markup = macros.told(  # type: ignore[attr-defined]  # a macro of the template
        row,
        now,
        is_old,
        context.is_freshness_stale(view),
        trends.spark(view.cluster, view.group, now),
        rates_of(view) if row.verdict.status == "OK" else None,
        commands(view.group, row.cause, context.servers(view.cluster)),
        worst_rows(view.event, WORST_SHOWN),
    )
    since: Markup = macros.since(row, now, is_old)  # type: ignore[attr-defined]  # likewise
    return told + since
