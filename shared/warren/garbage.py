"""Garbage collection: services hold millions of objects that stay, and reference counts free what
an event, a pass or a request makes. Looking for cycles among all of them finds next to nothing.

Left to its defaults it is a third to a half of a collector's, a pass's or a list's work, and stops
a notifier with 5,000 open incidents for a third of a second each half minute.
"""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 2, 1_000)
"""Of the three generations. The first two are looked through in some 10 and 40 ms at most; the
third, which takes seconds, once a hundred million objects more were made than freed.
"""


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
