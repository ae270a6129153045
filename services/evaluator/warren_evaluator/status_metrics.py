"""Gauges that are counted from the table when they are asked for."""

from collections import Counter
from collections.abc import Callable

from warren.contracts.status import Status
from warren.metrics import evaluator as metrics
from warren_core.judgement.state_codec import peek_status

from warren_evaluator.faust_corrections.window_table import WindowTable

GROUP_STATUSES = (Status.OK, Status.WARN, Status.ERR)


def count_groups(table: WindowTable) -> None:
    """Groups by status; those that are not OK have an open incident."""
    for status in GROUP_STATUSES:
        metrics.EVALUATOR_GROUPS.labels(status.name).set_function(_counter(table, status))


def _counter(table: WindowTable, status: Status) -> Callable[[], float]:
    def count() -> float:
        return float(Counter(peek_status(value) for _, value, _ in table.entries())[status])

    return count
