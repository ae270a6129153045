"""Explanations: why partitions are not OK, for machines and in one sentence each.

Built only for partitions that are not OK, from what their policy has looked at.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import numpy as np
from warren.contracts import ReasonName, Status
from warren.settings import PolicyName
from warren.words import duration, grouped, rate, records

from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.lateness import late_ms, remaining_ms, trend
from warren_core.evaluation.onset import Began, Onset, onset_of
from warren_core.evaluation.predicates import log_at_rest, produced_per_s
from warren_core.evaluation.progress import Statuses, tracked
from warren_core.evaluation.rewinds import goes_to_and_fro
from warren_core.evaluation.rule import BY
from warren_core.evaluation.track import Alarm, Figure, Mark, Track, longest, returning_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows

_REASONS: Mapping[int, ReasonName] = {
    Status.STOP: "no_commit",
    Status.STALL: "no_progress",
    Status.REWIND: "rewind",
    Status.BEYOND_END: "beyond_log_end",
    Status.WARN: "lag_not_shrinking",
}


_TRENDS: Mapping[int, str] = {1: "growing, ", -1: "shrinking, "}


class Explanation(NamedTuple):
    """Why a partition is not OK."""

    reason: ReasonName
    sentence: str


def explain(
    evidence: Evidence,
    status: Statuses,
    policies: Mapping[PolicyName, Bools],
    allowed_lag: int | Int64,
    onset: Onset | None = None,
) -> dict[int, Explanation]:
    """By row, of the partitions that are not OK; `policies` says who was judged by which.

    `onset`: since when they are not; else as far as the windows know.
    """
    rows = np.flatnonzero(status > Status.OK)
    if not len(rows):
        return {}
    onset = onset or onset_of(evidence.windows, status, None)
    assert onset is not None  # something is wrong
    part = _Part.of(evidence, status, rows, onset.take(rows))
    learnt = None
    if "progress" in policies:
        learnt = tracked(evidence, allowed_lag).take(rows)
    by_progress = policies["progress"][rows].tolist() if learnt else [False] * len(rows)
    never = owned = [False] * len(rows)
    if evidence.uncommitted is not None:
        never = evidence.uncommitted.rows[rows].tolist()
        owned = evidence.uncommitted.owned[rows].tolist()
    return {
        row: _never_committed(part, i, is_owned=owned[i])
        if never[i]
        else _learnt(part, i, learnt)
        if learnt and by_progress[i]
        else _by_window(part, i)
        for i, row in enumerate(rows.tolist())
    }


class _Part(NamedTuple):
    """The evidence of the partitions to explain: lists, since each is a sentence of its own."""

    windows: Windows
    status: list[int]
    lag: list[int]
    now: list[int]
    filled: list[int]
    newest: list[list[int]]  # [column][partition]
    oldest: list[list[int]]
    lags: list[list[int]]  # [partition][slot]
    began: list[list[int]]  # [Began][partition]
    produced: list[float]  # records per second, negative where nobody knows
    at_rest: list[bool]  # no remembered log end differs from another

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        status: Statuses,
        rows: Int64,
        onset: Onset,
    ) -> Self:
        windows = evidence.windows
        if len(rows) < len(windows.filled):
            windows = windows.take(rows)
        now = np.broadcast_to(evidence.now_ms, evidence.windows.filled.shape)[rows]
        lag = evidence.current_lag[rows]
        return cls(
            windows=windows,
            status=status[rows].tolist(),
            lag=lag.tolist(),
            now=now.tolist(),
            filled=windows.filled.tolist(),
            newest=windows.newest().tolist(),
            oldest=windows.oldest().tolist(),
            lags=windows.column(Column.LAG).tolist(),
            began=onset.marks.tolist(),
            produced=produced_per_s(windows, lag, now, status[rows] == Status.STOP).tolist(),
            at_rest=log_at_rest(windows).tolist(),
        )

    def silence(self, i: int) -> int:
        """Since the newest commit, ms."""
        return self.now[i] - self.newest[Column.COMMITTED_AT][i]

    def span(self, i: int) -> int:
        """From the oldest commit to the newest, ms."""
        return self.newest[Column.COMMITTED_AT][i] - self.oldest[Column.COMMITTED_AT][i]

    def behind(self, i: int, produced: float | None = None) -> str:
        """`produced` in records per second; without it, what the windows tell."""
        if produced is None:
            produced = self.produced[i]
        if produced < 0 or self.lag[i] == UNKNOWN:
            grows = ""
        elif produced == 0 or self.at_rest[i]:
            grows = ", log at rest"
        else:
            grows = f", log still growing by {rate(produced)}"
        return f"{records(self.lag[i])} behind{grows}"


def _by_window(part: _Part, i: int) -> Explanation:
    """What `burrow` has seen."""
    status = part.status[i]
    return Explanation(_REASONS[status], _SENTENCES[status](part, i))


def _never_committed(part: _Part, i: int, *, is_owned: bool) -> Explanation:
    by = "its owner commits nothing" if is_owned else "no owner is known"
    return Explanation(
        "never_committed",
        f"never committed, though at least {records(part.lag[i])} came within "
        f"{duration(part.silence(i))}; {by}",
    )


def _stopped(part: _Part, i: int) -> str:
    commits = part.filled[i]
    # Shorter than the silence: the whole span is.
    usual = f"usual pause {duration(part.span(i) / (commits - 1))}" if commits > 1 else ""
    return _no_commit(part.silence(i), usual or "the only one known", part.behind(i))


def _no_commit(silence: float, usual: str, behind: str) -> str:
    return f"no commit for {duration(silence)}, {usual}; {behind}"


def _stalled(part: _Part, i: int) -> str:
    since = part.now[i] - part.began[Began.STANDS_SINCE][i]
    return _no_progress(part.newest[Column.OFFSET][i], since, part.behind(i))


def _no_progress(offset: int, since: float, behind: str) -> str:
    return f"commits go on, but at offset {grouped(offset)} for {duration(since)}; {behind}"


def _rewound(part: _Part, i: int) -> str:
    before: int | None = part.began[Began.REWOUND_FROM][i]
    ago = part.now[i] - part.began[Began.REWOUND_AT][i]
    before = None if before == UNKNOWN else before
    return _went_back(before, ago, part.newest[Column.OFFSET][i], part.behind(i))


def _went_back(before: int | None, ago: float, offset: int, behind: str) -> str:
    origin = "" if before is None else f" from {grouped(before)} {duration(ago)} ago"
    return f"committed offset went back{origin} and is at {grouped(offset)}; {behind}"


def _slow(part: _Part, i: int) -> str:
    known = [lag for lag in part.lags[i] if lag >= 0]
    moved = f": from {grouped(known[0])} to {grouped(known[-1])}" if known else ""
    return (
        f"lag has not shrunk over {part.filled[i]} commits in {duration(part.span(i))}{moved}; "
        f"{part.behind(i)}"
    )


def _beyond_end(part: _Part, i: int) -> str:
    committed, log_end = part.newest[Column.OFFSET][i], int(part.windows.log_ends[i, -1])
    return (
        f"committed offset {grouped(committed)} is beyond the log end {grouped(log_end)}: records "
        "were truncated, or the topic was made anew; a consumer that starts here is sent where its "
        "auto.offset.reset says"
    )


_SENTENCES: Mapping[int, Callable[[_Part, int], str]] = {
    Status.STOP: _stopped,
    Status.STALL: _stalled,
    Status.REWIND: _rewound,
    Status.BEYOND_END: _beyond_end,
    Status.WARN: _slow,
}


def _learnt(part: _Part, i: int, track: Track) -> Explanation:
    """What `progress` has seen and learnt."""
    status, now = Status(part.status[i]), part.now[i]
    if status is Status.BEYOND_END:  # no policy says that
        return _by_window(part, i)
    marks, figures = track.marks[:, i].tolist(), track.figures[:, i].tolist()
    behind = part.behind(i, max(figures[Figure.PRODUCED], 0.0))
    waited = max(now - marks[Mark.WAITING_SINCE], 0)
    if status is Status.STOP:
        usual = figures[Figure.COMMIT_PAUSE]
        if marks[Mark.REWOUND_AT] > marks[Mark.ADVANCED_AT]:
            back_for = now - marks[Mark.REWOUND_AT]
            back = _went_back(marks[Mark.REWOUND_FROM], back_for, marks[Mark.COMMITTED], behind)
            return Explanation("no_commit", f"nothing read for {duration(waited)}; {back}")
        if usual > part.silence(i):  # a commit came late, and of the same offset
            return Explanation(
                "no_commit",
                (
                    f"at offset {grouped(part.newest[Column.OFFSET][i])} for {duration(waited)}, "
                    f"last commit {duration(part.silence(i))} ago; {behind}"
                ),
            )
        said = _returns(track, i) or _usual_pause(usual, _longest(track, i))
        if marks[Mark.GONE_SINCE] >= 0 and marks[Mark.THERE_SINCE] >= 0:
            gone = now - marks[Mark.GONE_SINCE]
            said += (
                f", no members seen for {duration(gone)}" if gone > 0 else ", no members any more"
            )
        if marks[Mark.OPEN_SINCE] >= 0:
            said += f", a transaction is open for {duration(now - marks[Mark.OPEN_SINCE])}"
        if marks[Mark.REBALANCED] > 0:
            said += f", rebalanced for {rebalanced_for(marks[Mark.REBALANCED])} of it"
        if part.silence(i) > 2 * waited:  # all was read meanwhile
            said += f", with records to read for {duration(waited)}"
        return Explanation("no_commit", _no_commit(part.silence(i), said, behind))
    if status is Status.STALL:
        return Explanation("no_progress", _no_progress(marks[Mark.COMMITTED], waited, behind))
    if status is Status.REWIND:
        ago = now - marks[Mark.REWOUND_AT]
        back = _went_back(marks[Mark.REWOUND_FROM], ago, marks[Mark.COMMITTED], behind)
        if goes_to_and_fro(track.marks[:, i : i + 1])[0]:
            back = f"again and again the {back}"
        return Explanation("rewind", back)
    if marks[Mark.REWOUND_FROM] >= 0:
        return Explanation("replaying", _replays(track, i, part.lag[i], now, behind))
    goes = int(trend(track, np.array([part.lag[i]] * track.marks.shape[1]), now)[i])
    if marks[Mark.ALARM] == Alarm.CATCHES_UP:
        late = duration(_late(track, i, part.lag[i], now))
        comes = _caught_up(track, i, part.lag[i], now) if goes < 0 else "not catching up"
        reason: ReasonName = "catching_up" if goes < 0 else "not_catching_up"
        return Explanation(reason, f"about {late} late, {comes}; {behind}")
    since = duration(now - marks[Mark.LEVEL_AT])
    said = f"lag {_TRENDS.get(goes, '')}for {since} above what is usual; {behind}"
    return Explanation("lag_growing", said)


def rebalanced_for(took_ms: int) -> str:
    """In words; no more than that is counted of a wait."""
    return f"{'at least ' if took_ms >= BY.first else ''}{duration(took_ms)}"


def _usual_pause(mean: float, longest: int) -> str:
    """Milliseconds; a mean below 0 is not known."""
    if longest > max(2 * mean, BY.least_wait):
        return f"usually pauses up to {duration(longest)}"
    return "usual pause not known yet" if mean < 0 else f"usual pause {duration(mean)}"


def _longest(track: Track, i: int) -> int:
    """Milliseconds: the longest wait that counts."""
    marks = track.marks[:, i : i + 1]
    return int(max(longest(marks, Mark.PAUSE)[0], longest(marks, Mark.GOES)[0]))


def _returns(track: Track, i: int) -> str:
    """Empty where nothing was due that comes each day, or week."""
    marks = track.marks[:, i : i + 1]
    length = np.asarray(returning_ms(marks, marks[Mark.WAITING_SINCE], is_stop=True)).max()
    if not length:
        return ""
    apart = float(marks[Mark.RETURN_APART, 0])
    return f"usually pauses up to {duration(float(length))} every {duration(apart)}"


def _late(track: Track, i: int, lag: int, now: int) -> float:
    """Milliseconds."""
    one = track.marks[:, i : i + 1], track.figures[:, i : i + 1]
    return float(late_ms(*one, np.array([lag]), now)[0])


def _caught_up(track: Track, i: int, lag: int, now: int) -> str:
    """When it is level with its log."""
    one = track.marks[:, i : i + 1], track.figures[:, i : i + 1]
    left = float(remaining_ms(*one, np.array([lag]), now)[0])
    return f"caught up in about {duration(left)}" if left < np.inf else "not catching up yet"


def _replays(track: Track, i: int, lag: int, now: int, behind: str) -> str:
    marks = track.marks[:, i].tolist()
    before, ago = marks[Mark.REWOUND_FROM], now - marks[Mark.REWOUND_AT]
    return (
        f"replaying: went back from {grouped(before)} {duration(ago)} ago, is at "
        f"{grouped(marks[Mark.COMMITTED])}, {_caught_up(track, i, lag, now)}; {behind}"
    )
