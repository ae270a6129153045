"""The last hour of a group as a picture, for readers that show no SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from PIL import Image, ImageDraw, ImageFont
from warren.words import duration, grouped

from warren_notifier.channels.group_past import Past

WIDTH, HEIGHT = 1120, 260  # pixels, shown at half of that
LEFT, RIGHT, TOP, BOTTOM = 8, 8, 44, 36
LINE, AREA, TEXT, AXIS = "#0b57d0", "#dbe7fb", "#57606a", "#d0d7de"
FONT_SIZE = 22
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """A PNG, and what it shows in words."""

    png: bytes
    words: str


def plot(past: Past | None) -> Plot | None:
    """Lateness where it is known, else lag; None where hardly anything is known of either."""
    if past is None:
        return None
    for name, values, said in (("Lateness", past.late_ms, duration), ("Lag", past.lag, grouped)):
        known = [
            (at, value) for at, value in zip(past.at, values, strict=False) if value is not None
        ]
        if len(known) >= LEAST_POINTS:
            return _drawn(name, known, said)
    return None


def _drawn(name: str, known: Sequence[tuple[int, int]], said: Callable[[int], str]) -> Plot:
    most, last = max(value for _, value in known), known[-1][1]
    begin, end = _clock(known[0][0]), _clock(known[-1][0])
    words = f"{name}, {begin} to {end} UTC: most {said(most)}, last {said(last)}"
    image = Image.new("RGB", (WIDTH, HEIGHT), "#ffffff")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(FONT_SIZE)
    floor = HEIGHT - BOTTOM
    line = _line(known, most)
    draw.polygon([(line[0][0], floor), *line, (line[-1][0], floor)], fill=AREA)
    draw.line(line, fill=LINE, width=4, joint="curve")
    draw.line([(LEFT, floor), (WIDTH - RIGHT, floor)], fill=AXIS, width=2)
    draw.text((LEFT, 8), words, fill=TEXT, font=font)
    draw.text((LEFT, floor + 6), begin, fill=TEXT, font=font)
    draw.text((WIDTH - RIGHT, floor + 6), end, fill=TEXT, font=font, anchor="ra")
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return Plot(written.getvalue(), words)


def _line(known: Sequence[tuple[int, int]], most: int) -> list[tuple[float, float]]:
    """Places on the picture. What is unknown in between is bridged."""
    begin, span = known[0][0], known[-1][0] - known[0][0] or 1
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return [
        (LEFT + (at - begin) / span * width, TOP + (1 - max(value, 0) / max(most, 1)) * height)
        for at, value in known
    ]


def _clock(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M}"
