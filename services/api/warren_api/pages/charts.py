"""Charts as SVG, drawn here: no script is needed to see them, and none to be trusted.

Pure. Presentation attributes and classes only, as the pages' policy allows no styles; every chart
has a `<title>` that says in words what it shows.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from markupsafe import Markup, escape
from warren.words import duration, grouped

Value = float | int | None
Said = Callable[[float], str]
WIDTH, HEIGHT = 600, 150
TOP, BOTTOM = 8, 130  # of the plot
STRIP_HEIGHT = 6
MOST_RULES = 4  # above 0: more than five figures beside a chart are not read
_S, _MIN, _H, _D = 1_000, 60_000, 3_600_000, 86_400_000
_ROUND_TIMES = [
    *(1 * _S, 2 * _S, 5 * _S, 10 * _S, 15 * _S, 30 * _S),
    *(1 * _MIN, 2 * _MIN, 5 * _MIN, 10 * _MIN, 15 * _MIN, 30 * _MIN),
    *(1 * _H, 2 * _H, 6 * _H, 12 * _H, 1 * _D, 2 * _D, 5 * _D, 10 * _D, 30 * _D, 90 * _D),
]
"""Milliseconds that a clock is read by."""
_STATUSES = ("err", "warn", "ok")  # the worst first
ALL = 0.98  # of a time; whole seconds are kept of each minute


class Line(NamedTuple):
    """A column of figures, as it is called, and the class of its colour. `ends`: where the figures
    are the largest of each step, what it was at the step's end.
    """

    label: str
    colour: str
    values: Sequence[Value]
    ends: Sequence[Value] | None = None

    def summary(self, said: Said) -> str:
        known, ends = _known(self.values), _known(self.ends or self.values)
        if not known or not ends:
            return "unknown"
        least, most = min(*ends, *known), max(*ends, *known)
        return f"{said(ends[-1])} at the end, between {said(least)} and {said(most)}"


class Mark(NamedTuple):
    """Something that happened `at` a share of the chart's width."""

    at: float
    label: str


class Shade(NamedTuple):
    """Something that lasted from one share of the chart's width to another; `colour`: its class."""

    start: float
    end: float
    colour: str
    label: str


class StatusTimes(NamedTuple):
    """For how long each step had each status, and how much of it has passed; milliseconds."""

    ok: Sequence[Value]
    warn: Sequence[Value]
    err: Sequence[Value]
    passed: Sequence[int]

    @property
    def worst(self) -> list[str]:
        """Of each step the worst that it had; empty where nobody knows."""
        return [
            next((name for name, ms in zip(_STATUSES, (e, w, o), strict=True) if ms), "")
            for o, w, e in zip(self.ok, self.warn, self.err, strict=True)
        ]

    @property
    def words(self) -> str:
        """Shares of the time that is known, and how much that is where it is not all."""
        spent = {
            name: sum(ms or 0 for ms in column)
            for name, column in zip(_STATUSES, (self.err, self.warn, self.ok), strict=True)
        }
        known, passed = sum(spent.values()), sum(self.passed)
        if not known:
            return "status unknown"
        told = ", ".join(f"{n.upper()} {_share(ms / known)}" for n, ms in spent.items() if ms)
        if known >= ALL * passed:
            return f"{told} of the time"
        return f"{told} of the {duration_of(known)} that are known"


def chart(
    name: str,
    lines: Sequence[Line],
    said: Said,
    marks: Sequence[Mark] = (),
    at: Sequence[str] = (),
    least: float = 0,
    shades: Sequence[Shade] = (),
) -> Markup:
    """Lines over one scale from 0 to `least` or more, with hovers of what they are `at` each step;
    `said` puts a value into words.
    """
    grid = grid_of(max(_most(lines), least), said)
    most = grid[0]
    inside = [
        *(
            Markup(
                '<rect class="incident {}" x="{:.1f}" y="0" width="{:.1f}" height="{}">'
                "<title>{}</title></rect>"
            ).format(
                shade.colour,
                max(shade.start, 0) * WIDTH,
                (min(shade.end, 1) - max(shade.start, 0)) * WIDTH,
                BOTTOM,
                shade.label,
            )
            for shade in shades
        ),
        *(
            Markup('<line class="rule" x1="0" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                WIDTH, *2 * [BOTTOM - (BOTTOM - TOP) * value / most]
            )
            for value in grid[:-1]
        ),
        *(
            Markup(
                '<line class="mark" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"><title>{}</title></line>'
            ).format(*2 * [mark.at * WIDTH], BOTTOM, mark.label)
            for mark in marks
        ),
        *(part for line in lines for part in _paths(line, most)),
        *_hovers(lines, said, at),
        Markup('<line class="cross" x1="-1" x2="-1" y1="0" y2="{}"/>').format(BOTTOM),
    ]
    words = "; ".join(f"{line.label} {line.summary(said)}" for line in lines)
    drawn = _svg(f"{name}: {words}", "chart", HEIGHT, inside)
    # Beside the drawing: in it, letters would be as wide as the drawing is stretched.
    labels = Markup("").join(Markup("<span>{}</span>").format(said(value)) for value in grid)
    scale = Markup('<div class="scale" aria-hidden="true">{}</div>').format(labels)
    return Markup('<div class="plot">{}{}</div>').format(scale, drawn)


def sparkline(name: str, values: Sequence[Value], times: StatusTimes, least: float = 0) -> Markup:
    """How late over the statuses beneath it, in the colour of the last one. The scale goes to
    `least` or more, so that nobody takes noise for trouble.
    """
    height, strip = 40, times.worst
    line = Line(name, next((status for status in reversed(strip) if status), ""), values)
    most = max(_most([line]), least)
    inside = [*_paths(line, most or 1, bottom=30), *_strip(strip, height - STRIP_HEIGHT)]
    words = f"{name} {line.summary(duration_of)}; {times.words}"
    return _svg(words, "spark", height, inside)


def status_strip(name: str, times: StatusTimes) -> Markup:
    """The worst statuses side by side."""
    inside = list(_strip(times.worst, 0, 14))
    return _svg(f"{name}: {times.words}", "strip", 14, inside)


def grid_of(most: float, said: Said) -> list[float]:
    """Round values from the top of a scale that holds `most` down to 0, as far from each other."""
    least = 10.0 ** floor(log10(max(most, 0.1) / MOST_RULES))
    round_numbers = [least * times for times in (1, 2, 5, 10)]
    steps = _ROUND_TIMES if said is duration_of else round_numbers
    step = next((each for each in steps if each * MOST_RULES >= most), most / MOST_RULES)
    return [step * n for n in range(max(ceil(most / step), 1), -1, -1)]


def rates(counts: Sequence[Value], known_ms: Sequence[Value]) -> list[Value]:
    """Records a second of the time that somebody looked."""
    return [
        None if count is None or not known else count * 1000 / known
        for count, known in zip(counts, known_ms, strict=True)
    ]


def duration_of(milliseconds: float) -> str:
    return duration(round(milliseconds))


def _most(lines: Sequence[Line]) -> float:
    return max((value for line in lines for value in line.values if value is not None), default=0)


def _svg(title: str, kind: str, height: int, inside: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="{}" viewBox="0 0 {} {}" role="img" preserveAspectRatio="none">'
        "<title>{}</title>{}</svg>"
    ).format(kind, WIDTH, height, title, Markup("").join(inside))


def _paths(line: Line, most: float, bottom: float = BOTTOM) -> Iterator[Markup]:
    """A path for each stretch without a gap; a point alone is a short one."""
    width = WIDTH / max(len(line.values), 1)
    for first, stretch in _stretches(line.values):
        points = [
            f"{(first + n + 0.5) * width:.1f},{bottom - (bottom - TOP) * value / most:.1f}"
            for n, value in enumerate(stretch)
        ]
        if len(points) == 1:
            points.append(f"{(first + 1) * width:.1f},{points[0].partition(',')[2]}")
        yield Markup('<path class="line {}" d="M{}"/>').format(line.colour, "L".join(points))


def _stretches(values: Sequence[Value]) -> Iterator[tuple[int, list[float]]]:
    """Values without a gap, with the number of the first."""
    stretch: list[float] = []
    for number, value in enumerate([*values, None]):
        if value is not None:
            stretch.append(value)
        elif stretch:
            yield number - len(stretch), stretch
            stretch = []


def _strip(strip: Sequence[str], top: float, height: float = STRIP_HEIGHT) -> Iterator[Markup]:
    """A rectangle for each stretch of one status."""
    width = WIDTH / max(len(strip), 1)
    begin = 0
    for number in range(1, len(strip) + 1):
        if number < len(strip) and strip[number] == strip[begin]:
            continue
        if strip[begin]:
            yield Markup('<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>').format(
                strip[begin], begin * width, top, (number - begin) * width, height
            )
        begin = number


def _hovers(lines: Sequence[Line], said: Said, at: Sequence[str]) -> Iterator[Markup]:
    """Columns that nobody sees, which say what is there."""
    width = WIDTH / max(len(at), 1)
    for number, moment in enumerate(at):
        told = [
            f"{line.label} {said(value)}"
            for line in lines
            if (value := line.values[number]) is not None
        ]
        if told:
            yield Markup(
                '<rect class="hover" x="{:.1f}" y="0" width="{:.1f}" height="{}">'
                "<title>{}: {}</title></rect>"
            ).format(number * width, width, BOTTOM, moment, escape(", ".join(told)))


def _known(values: Sequence[Value]) -> list[float]:
    return [value for value in values if value is not None]


def _share(of: float) -> str:
    """Never 0 % or 100 % of what is not."""
    percent = min(max(round(100 * of), 1), 99) if 0 < of < 1 else round(100 * of)
    return f"under {percent} %" if 100 * of < 0.5 else f"{percent} %"


def mean_count_of(value: float) -> str:
    return f"{value:.1f}" if 0 < value < 10 and round(value, 1) % 1 else count_of(value)


def count_of(value: float) -> str:
    return grouped(round(value))


def rate_of(value: float) -> str:
    return f"{grouped(round(value))}/s" if value >= 10 else f"{value:.1f}/s"
