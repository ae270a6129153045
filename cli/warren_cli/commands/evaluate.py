"""`warren evaluate`: judges windows given as JSON. A pure filter, without Kafka."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import numpy as np
import typer
from warren.contracts.status import Status
from warren.evaluation import (
    POLICIES,
    Evidence,
    Explanation,
    Policy,
    explain,
    judge_partitions,
)
from warren.settings import PolicyName

from warren_cli.filters.json_records import BadInput, read_records
from warren_cli.filters.window_input import WindowInput, parse_window, to_windows

# Slots evaluated together: enough to be fast, few enough for little memory.
SLOTS_TOGETHER = 200_000


def evaluate(
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON array or JSON Lines; - is stdin.")
    ] = "-",
    policy: Annotated[
        PolicyName,
        typer.Option(help="Rules: as Burrow applies them, as its wiki says, or ours."),
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
    _print(lines)


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
        yield json.dumps(result) + "\n"


def _read(source: str) -> Iterator[WindowInput]:
    with contextlib.ExitStack() as stack:
        if source == "-":
            stream: BinaryIO = sys.stdin.buffer
        else:
            try:
                stream = stack.enter_context(Path(source).open("rb"))
            except OSError as error:
                raise BadInput(f"{source}: {error.strerror}") from None
        for number, value in enumerate(read_records(stream), 1):
            yield parse_window(number, value)


def _print(lines: list[str]) -> None:
    try:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, say) has enough; Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
