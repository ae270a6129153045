"""How groups stand in one line: how many are bad, and how many are OK. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warren.words import counted, grouped

from warren_cli.display.status_table import Group, severity

_FIRST = ("ERR", "WARN", "UNKNOWN")
_NOT_JUDGED = "-"


def is_bad(group: Group) -> bool:
    """Its own status is not OK, or an objective is not kept. What is not judged is not bad."""
    return severity(group) not in ("OK", _NOT_JUDGED)


def summary(groups: Sequence[Group], hidden: int) -> str:
    """`2 ERR · 1 WARN · 2,995 OK (--all shows them)`.

    `hidden`: how many of the groups are not shown.
    """
    counts = Counter(map(severity, groups))
    fine = counts.pop("OK", 0)
    not_judged = counts.pop(_NOT_JUDGED, 0)
    others = sorted(set(counts) - set(_FIRST))
    parts = [f"{grouped(counts[name])} {name}" for name in (*_FIRST, *others) if counts[name]]
    if fine:
        parts.append(f"{grouped(fine)} OK")
    if not_judged:
        parts.append(f"{grouped(not_judged)} not judged")
    line = " · ".join(parts)
    if fine == len(groups):
        line = f"{counted(fine, 'group')}, all OK" if fine > 1 else "1 group, OK"
    return f"{line} (--all shows {'it' if hidden == 1 else 'them'})" if hidden else line
