"""Garbage collection, left to its defaults a third of what a list of many groups costs.

What is held of groups are millions of objects that stay, and reference counts free what an event or
a request makes: looking for cycles among them finds next to nothing.
"""

from __future__ import annotations

import gc

THRESHOLDS = (100_000, 50, 50)
"""Of the three generations."""


def collect_seldom() -> None:
    """For the whole process, from now on."""
    gc.set_threshold(*THRESHOLDS)
