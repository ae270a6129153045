"""Reports that the archiver writes after each pass and pages link, and where in one a group is."""

from typing import NamedTuple
from urllib.parse import quote


class ReportFile(NamedTuple):
    """`title` completes "report of the …"; the period ends with what is archived."""

    name: str
    title: str
    length_ms: int


REPORT_FILES = (
    ReportFile("last-hour.html", "last hour", 3_600_000),
    ReportFile("last-day.html", "last 24 hours", 86_400_000),
    ReportFile("last-week.html", "last 7 days", 604_800_000),
)


def group_anchor(cluster: str, group: str) -> str:
    """The `id` of a group's row, as it also stands in a link behind `#`."""
    return f"{quote(cluster, safe='')}/{quote(group, safe='')}"
