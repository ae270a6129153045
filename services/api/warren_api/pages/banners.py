"""Objectives that a group does not keep, as lines above its figures: each fact once. Pure."""

from __future__ import annotations

from typing import NamedTuple

from warren.contracts import Breach

from warren_api.group_row import GroupRow
from warren_api.model.broken_now import Said

# Both limits are about one fact: what retention deletes unread.
_LOSS = frozenset({"lost_records", "min_time_to_loss"})


class BrokenBanner(NamedTuple):
    """`said`: what is wrong; None where the page says it already."""

    breach: Breach
    incident_id: str
    said: Said | None


def broken_banners(row: GroupRow) -> list[BrokenBanner]:
    """Worst first. Of an objective's limits that are about one fact the worst is kept; what is lost
    or will be is left out where the group's own line says it, with the figures of now.
    """
    found: dict[tuple[str, str], BrokenBanner] = {}
    for broken in row.view.broken:
        breach = broken.breach
        is_loss = breach.limit in _LOSS
        key = breach.objective, "loss" if is_loss else breach.limit
        if key not in found:
            is_said = is_loss and row.view.is_losing
            said = None if is_said else row.broken_now(broken)
            found[key] = BrokenBanner(breach, broken.incident_id, said)
    return list(found.values())
