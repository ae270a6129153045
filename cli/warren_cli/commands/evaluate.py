"""`warren evaluate`: judges windows given as JSON. A pure filter, without Kafka."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from warren.contracts.status import Status
from warren.settings import PolicyName
from warren_core.evaluation import (
    MAX_TIME,
    POLICIES,
    UNKNOWN,
    Column,
    Evidence,
    Explanation,
    Policy,
    Windows,
    explain,
    judge_partitions,
)

from warren_cli.terminal import discard_output

MAX_OFFSET = 2**63 - 1

Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]
Lag = Annotated[int, Field(ge=0, le=MAX_OFFSET)]
_INPUT = ConfigDict(extra="ignore", frozen=True, strict=True)


class CommitInput(BaseModel):
    """One slot of a window."""

    model_config = _INPUT

    offset: Offset
    timestamp_ms: int = Field(ge=-MAX_TIME, le=MAX_TIME)
    lag: Lag | None


class WindowInput(BaseModel):
    """One record: a partition's window, what is known of its log, and when it is judged."""

    model_config = _INPUT

    name: str
    now_s: int = Field(ge=-(MAX_TIME // 1000), le=MAX_TIME // 1000)
    current_lag: Lag
    broker_head_offsets: list[Offset]
    offsets: list[CommitInput | None]
    intervals: int | None = Field(default=None, ge=1, le=MAX_OFFSET)
    minimum_complete: float = Field(default=0.0, ge=0, le=1)
    allowed_lag: Lag = 0

    @property
    def slots(self) -> int:
        """Size of the window."""
        return len(self.offsets) if self.intervals is None else self.intervals

    @property
    def commits(self) -> list[CommitInput]:
        """The occupied slots, oldest first; of a window that is too long the newest."""
        kept = self.offsets[-self.slots :] if self.slots else []
        return [commit for commit in kept if commit is not None]


def parse_window(number: int, value: Any) -> WindowInput:
    """Raises BadInput with the record's number and the field."""
    try:
        return WindowInput.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        where = f"record {number}: {field}" if field else f"record {number}"
        raise BadInput(f"{where}: {first['msg']}") from None


def to_windows(records: list[WindowInput]) -> Windows:
    """All records' windows in one, as wide as the fullest."""
    commits = [record.commits for record in records]
    windows = Windows.empty(len(records), max(1, *map(len, commits)))
    heads = max(1, *(len(record.broker_head_offsets) for record in records))
    windows.log_ends = np.full((len(records), heads), UNKNOWN, np.int64)
    for row, (record, slots) in enumerate(zip(records, commits, strict=True)):
        windows.filled[row] = len(slots)
        if slots:
            window = windows.columns[:, row, -len(slots) :]
            window[Column.OFFSET] = [commit.offset for commit in slots]
            window[Column.COMMITTED_AT] = [commit.timestamp_ms for commit in slots]
            window[Column.OBSERVED_AT] = window[Column.COMMITTED_AT]  # at once, as far as known
            window[Column.LAG] = [UNKNOWN if c.lag is None else c.lag for c in slots]
        if record.broker_head_offsets:
            windows.log_ends[row, -len(record.broker_head_offsets) :] = record.broker_head_offsets
    return windows


_UTF8_MARK = b"\xef\xbb\xbf"


class BadInput(Exception):
    """Input cannot be used; the text has the file, or the record's number (from 1) and field."""


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """A file, or standard input for `-`. Raises BadInput."""
    if source == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise BadInput(f"{source}: {error.strerror}") from None


def print_lines(lines: Iterable[str]) -> None:
    """Each as it comes; a reader that has enough (`head`, say) is no failure."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def read_records(stream: BinaryIO) -> Iterator[Any]:
    """The values of an array, or one per line; empty lines do not count. Raises BadInput."""
    text = stream.read().removeprefix(_UTF8_MARK)
    if text.lstrip().startswith(b"["):
        yield from _value("array", text)
        return
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        yield _value(f"record {number}", line)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _value(what: str, raw: bytes) -> Any:
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BadInput(f"{what}: not UTF-8: {error.reason}") from None
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        raise BadInput(f"{what}: not JSON: {error}") from None


# Slots evaluated together: enough to be fast, few enough for little memory.
SLOTS_TOGETHER = 200_000


def evaluate_windows(
    records: Iterable[WindowInput], policy: Policy, explained: PolicyName | None = None
) -> Iterator[str]:
    """One JSON line per record, in their order; `explained` is the policy's name if it says why."""
    together: list[WindowInput] = []
    width = 0
    for record in records:
        width = max(width, len(record.offsets), len(record.broker_head_offsets))
        together.append(record)
        if width * len(together) >= SLOTS_TOGETHER:
            yield from _evaluate_together(together, policy, explained)
            together, width = [], 0
    if together:
        yield from _evaluate_together(together, policy, explained)


def _evaluate_together(
    records: list[WindowInput], policy: Policy, explained: PolicyName | None
) -> Iterator[str]:
    evidence = Evidence(
        windows=to_windows(records),
        current_lag=np.array([r.current_lag for r in records], np.int64),
        now_ms=np.array([r.now_s * 1000 for r in records], np.int64),
    )
    allowed_lag = np.array([r.allowed_lag for r in records], np.int64)
    verdicts = judge_partitions(
        evidence,
        policy,
        intervals=np.array([max(r.slots, 1) for r in records], np.int64),
        allowed_lag=allowed_lag,
        minimum_complete=np.array([r.minimum_complete for r in records], np.float64),
    )
    why: dict[int, Explanation] = {}
    if explained is not None:
        everyone = np.ones(len(records), np.bool_)
        why = explain(evidence, verdicts.status, {explained: everyone}, allowed_lag)
    results = zip(records, verdicts.status.tolist(), verdicts.complete.tolist(), strict=True)
    for row, (record, status, complete) in enumerate(results):
        result = {"name": record.name, "status": Status(status).name, "complete": complete}
        if explained is not None:
            result["reason"], result["explanation"] = why.get(row, (None, None))
        yield json.dumps(result)


def evaluate(
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON array or JSON Lines; - is stdin.")
    ] = "-",
    policy: Annotated[
        PolicyName,
        typer.Option(help="Rules: as Burrow applies them, or ours."),
    ] = "burrow",
    why: Annotated[
        bool, typer.Option("--why", help="Also why: a reason for machines and a sentence.")
    ] = False,
) -> None:
    """Judge windows of commits: JSON in, one line {"name","status","complete"} each out.

    With --why the line also has "reason" and "explanation", null when OK.
    """
    try:
        # All of it before the first line is printed: bad input gives no half of a result.
        lines = list(evaluate_windows(_read(source), POLICIES[policy], policy if why else None))
    except BadInput as error:
        typer.echo(f"warren evaluate: {error}", err=True)
        raise typer.Exit(2) from None
    print_lines(lines)


def _read(source: str) -> Iterator[WindowInput]:
    with opened(source) as stream:
        for number, value in enumerate(read_records(stream), 1):
            yield parse_window(number, value)
