"""Garbage collection, left to its defaults a third of a collector's work.

Each batch has tens of thousands of objects that reference counts free, and the state has millions
that stay: looking for cycles among them finds next to nothing.
"""

from __future__ import annotations

import gc

THRESHOLDS = (100_000, 20, 20)
"""Of the three generations; a batch of the offsets topic makes some 30,000 objects."""


def collect_seldom() -> None:
    """For the whole process, from now on."""
    gc.set_threshold(*THRESHOLDS)


def settle() -> None:
    """What is alive now is not looked at again until the next call; what is not, is freed.

    To be called when state is rebuilt, and when it is given up: it may be in cycles.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
