"""Assumption: what an observation does to assumed commits; see `assumed`."""

from dataclasses import replace

import numpy as np

from warren_core.evaluation import UNKNOWN, Column, Int64, Track, Windows
from warren_core.judgement.columns import Latest
from warren_core.judgement.observation import Observation


def give_way(
    latest: Int64, windows: Windows, track: Track | None, observation: Observation
) -> None:
    """Forget commits of one kind where those of the other kind come, made or assumed. `latest`: of
    before the observation.
    """
    was_none = latest[Latest.COMMITTED, observation.rows] < 0
    changed = was_none != (observation.latest[Latest.COMMITTED] < 0)
    if not changed.any():  # as nearly always
        return
    rows = observation.rows[changed]
    windows.clear_commits(rows)
    if track is not None:
        track.clear(rows)


def assume(windows: Windows, observation: Observation) -> Observation:
    """Keep assumed commits in the windows, which have all others of the observation already. The
    observation with their offsets.
    """
    nobody = observation.latest[Latest.COMMITTED] < 0
    if not nobody.any():  # as mostly
        return observation
    rows, log_end = observation.rows[nobody], observation.latest[Latest.LOG_END, nobody]
    is_new = windows.filled[rows] == 0
    level = (log_end >= 0) & (is_new | (log_end <= windows.newest(Column.OFFSET)[rows]))
    windows.columns[Column.OFFSET, rows, -1] = np.where(
        level & is_new, log_end, windows.newest(Column.OFFSET)[rows]
    )
    seen_at = np.broadcast_to(observation.at, observation.rows.shape)[nobody][level]
    windows.columns[[[Column.COMMITTED_AT], [Column.OBSERVED_AT]], rows[level], -1] = seen_at
    windows.columns[Column.LAG, rows, -1] = UNKNOWN
    windows.filled[rows[level]] = 1
    latest = observation.latest.copy()
    latest[Latest.COMMITTED, nobody] = np.where(
        windows.filled[rows] > 0, windows.newest(Column.OFFSET)[rows], UNKNOWN
    )
    return replace(observation, latest=latest)
