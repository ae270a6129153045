"""The last hour of a group: as Warren's API remembers it, and as a picture for mails."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import httpx
import structlog
from PIL import Image, ImageDraw, ImageFont
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from warren.clock import Clock
from warren.contracts import MINUTE_MS
from warren.path_segments import segment
from warren.words import LATEST_MOMENT, duration, grouped

log = structlog.get_logger(__name__)

HOUR_MS = 60 * MINUTE_MS
PATIENCE = 3  # seconds that a mail waits for its plot
PAUSE = 60  # seconds without a plot after the API did not answer
MOST_BYTES = 200_000
WIDTH, HEIGHT = 1120, 300  # pixels, shown at half of that, on a telephone at a third
LEFT, RIGHT, TOP, BOTTOM = 8, 8, 60, 52
LINE, AREA, TEXT, AXIS = "#0b57d0", "#dbe7fb", "#57606a", "#d0d7de"
FONT_SIZE = 34
LEAST_POINTS = 2

Moment = Annotated[int, Field(ge=0, le=LATEST_MOMENT)]
Figure = Annotated[int, Field(gt=-(2**63), lt=2**63)]
Column = Annotated[list[Figure | None], Field(max_length=120)]


class Past(BaseModel):
    """Columns, an entry a minute, oldest first; None where nothing is known."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    at: Annotated[list[Moment], Field(max_length=120)]
    lag: Column
    late_ms: Column


class GroupPast:
    """Asks the API. It is an extra: whatever fails, a mail goes without it."""

    def __init__(self, base: str, token: str, clock: Clock) -> None:
        """`base`: its URL, empty to ask nobody. `token`: empty where none is needed."""
        self._base = base.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._clock = clock
        self._again_at = float("-inf")
        self._client: httpx.AsyncClient | None = None

    async def last_hour(self, cluster: str, group: str, until: int) -> Past | None:
        """None where nobody can be asked or nothing is known. `until`: Unix milliseconds."""
        if not self._base or self._clock.monotonic() < self._again_at:
            return None
        path = f"/api/v1/groups/{segment(cluster)}/{segment(group)}/history"
        try:
            async with asyncio.timeout(PATIENCE):  # httpx's is one of each read
                return await self._asked(f"{self._base}{path}", until)
        except (httpx.HTTPError, httpx.InvalidURL, ValidationError, TimeoutError) as error:
            self._again_at = self._clock.monotonic() + PAUSE
            problem = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
            log.warning("no plots in mails", url=self._base, problem=problem, seconds=PAUSE)
            return None

    async def _asked(self, url: str, until: int) -> Past | None:
        """Raises httpx's errors, ValidationError."""
        self._client = self._client or httpx.AsyncClient(timeout=PATIENCE, headers=self._headers)
        asked = {"from": until - HOUR_MS, "to": until, "step": MINUTE_MS}
        async with self._client.stream("GET", url, params=asked) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                return None  # the API has not heard of the group yet
            response.raise_for_status()
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise httpx.DecodingError("an answer without an end")
        return Past.model_validate_json(bytes(body))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()


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
