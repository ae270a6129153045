"""Garbage collection, left to its defaults half of a pass's work.

A pass makes several objects for each partition of each group, which reference counts free when it
is over; looking for cycles among them finds next to nothing.
"""

from __future__ import annotations

import gc

THRESHOLDS = (100_000, 50, 100)
"""Of the three generations."""


def collect_seldom() -> None:
    """For the whole process, from now on."""
    gc.set_threshold(*THRESHOLDS)
