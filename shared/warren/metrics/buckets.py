"""Bucket bounds that several histograms share."""

from __future__ import annotations

#: Seconds.
DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
