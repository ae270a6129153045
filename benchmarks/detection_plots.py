"""Draws what policies say of typical cases for docs/evaluation.md: simulated, the truth beside.

Writes docs/plots/<case>.svg, and the tables of the rules of `progress` into the page. `--check`:
says whether these are out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vl_convert
from support.detection.partitions import HOUR, Partition
from support.detection.rules import by_policy
from support.detection.simulation import Bools, Recording, play
from support.detection.typical import CASES, Case
from warren.contracts import Status
from warren.settings import PolicyName
from warren.words import duration
from warren_core.evaluation.progress import RULES
from warren_core.evaluation.rule import BY, meanings

DIRECTORY = Path(__file__).parents[1] / "docs" / "plots"
PAGE = DIRECTORY.parent / "evaluation.md"
SHOWN: tuple[PolicyName, ...] = ("progress", "burrow")
INTERVAL = 5
_EVERY = 4  # ticks: what is smaller is no longer seen
_WIDTH, _NAMES = 720, 70
_COLOURS = {
    "harmless": "#d0d7de",
    "fault": "#6e7781",
    "WARN": "#d4a72c",
    "STALL": "#fb8f44",
    "STOP": "#cf222e",
    "REWIND": "#8250df",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=DIRECTORY, metavar="DIRECTORY")
    parser.add_argument("--only", nargs="*", metavar="CASE", help="none: the tables alone")
    parser.add_argument("--check", action="store_true", help="of the tables alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.only or ()) - {case.name for case in CASES}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    text = PAGE.read_text()
    if (page := with_tables(text)) != text:
        if arguments.check:
            sys.exit(f"outdated: {PAGE.name}; run `make docs`")
        PAGE.write_text(page)
    if arguments.check:
        return
    arguments.into.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        if arguments.only is None or case.name in arguments.only:
            (arguments.into / f"{case.name}.svg").write_text(drawn(case), encoding="utf-8")


def with_tables(page: str) -> str:
    """The page with what the code says of its rules."""
    rules = ["| rule | in a sentence | what it learns | when it speaks |", "|---|---|---|---|"]
    rules += [f"| {r.name} | {r.sentence} | {r.learns} | {r.speaks} |" for r in RULES]
    rows = ["| parameter | of | is | what it means |", "|---|---|---|---|"]
    units = meanings()
    for rule in RULES:
        for name in rule.parameters:
            value, (unit, text) = getattr(BY, name), units[name]
            shown = duration(value) if unit == "ms" else f"{value:g} {unit}"
            rows.append(f"| `{name}` | {rule.name} | {shown} | {text} |")
    return _filled(_filled(page, "rules", rules), "parameters", rows)


def _filled(page: str, name: str, table: list[str]) -> str:
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.split(begin)
    return "\n".join([before + begin, *table, "", end + rest.split(end)[1]])


def drawn(case: Case) -> str:
    """As SVG."""
    recording = play([case.partition], case.seconds, case.seed, INTERVAL)
    strips = _truth(case.partition, recording)
    for policy in SHOWN:
        said = by_policy(recording, policy)[:, 0]
        for status in (Status.WARN, Status.STALL, Status.STOP, Status.REWIND):
            strips += _strip(recording, said == status, policy, status.name)
    strips = [strip for strip in strips if strip["to"] > case.shown_from]
    rows = ["truth", *SHOWN]
    spec = {"vconcat": [_lag(case, recording), _strips(case, strips, rows)], "spacing": 8}
    svg: str = vl_convert.vegalite_to_svg(spec | {"config": _CONFIG}, allowed_base_urls=[])
    return svg + "\n"


def _truth(partition: Partition, recording: Recording) -> list[dict[str, Any]]:
    strips = _strip(recording, recording.fault[:, 0] >= 0, "truth", "fault")
    for span in partition.spans:
        if span.kind in ("rebalance", "pause", "transaction"):
            strips.append({"row": "truth", "from": span.start, "to": span.end, "is": "harmless"})
    return strips


def _strip(recording: Recording, flags: Bools, row: str, what: str) -> list[dict[str, Any]]:
    strips: list[dict[str, Any]] = []
    for second, flag in zip(recording.second.tolist(), flags.tolist(), strict=True):
        if flag and strips and strips[-1]["to"] == second:
            strips[-1]["to"] = second + INTERVAL
        elif flag:
            strips.append({"row": row, "from": second, "to": second + INTERVAL, "is": what})
    return strips


def _lag(case: Case, recording: Recording) -> dict[str, Any]:
    lag = (recording.true_end - recording.committed)[:, 0]
    values = [
        {"at": at, "lag": records}
        for at, records in zip(
            recording.second[::_EVERY].tolist(), lag[::_EVERY].tolist(), strict=True
        )
        if at >= case.shown_from
    ]
    return {
        "width": _WIDTH,
        "height": 90,
        "data": {"values": values},
        "mark": {"type": "area", "color": "#54aeff", "opacity": 0.6},
        "encoding": {
            "x": _time(case, "at", labels=False),
            "y": {
                "field": "lag",
                "type": "quantitative",
                "axis": {"title": "lag", "tickCount": 3, "minExtent": _NAMES, "maxExtent": _NAMES},
            },
        },
    }


def _strips(case: Case, strips: list[dict[str, Any]], rows: Sequence[str]) -> dict[str, Any]:
    known = {"field": "is", "type": "nominal"}
    scale = {"domain": list(_COLOURS), "range": list(_COLOURS.values())}
    return {
        "width": _WIDTH,
        "height": {"step": 22},
        "data": {"values": strips},
        "mark": {"type": "bar", "height": 14},
        "encoding": {
            "x": _time(case, "from", labels=True),
            "x2": {"field": "to"},
            "y": {
                "field": "row",
                "type": "nominal",
                "scale": {"domain": rows},
                "axis": {"title": None, "minExtent": _NAMES, "maxExtent": _NAMES},
            },
            "color": known | {"scale": scale, "legend": {"title": None, "orient": "bottom"}},
        },
    }


def _time(case: Case, field: str, *, labels: bool) -> dict[str, Any]:
    start, end = case.shown_from, case.seconds
    step = HOUR if end - start > 3 * HOUR else 600
    axis = {
        "title": "minutes" if labels else None,
        "values": list(range(start, end + 1, step)),
        "labelExpr": f"round((datum.value - {start}) / 60)",
        "labels": labels,
    }
    domain = {"domain": [start, end], "nice": False}
    return {"field": field, "type": "quantitative", "scale": domain, "axis": axis}


_CONFIG: dict[str, Any] = {
    "font": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif",
    "background": "#ffffff",
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
}


if __name__ == "__main__":
    main()
