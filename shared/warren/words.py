"""Figures in words, text made visible: one way for events, pages, mails and the terminal.

The words for records that retention deletes: causes, objectives and pages say it in one way.
"""

import functools
import re
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

LATEST_MOMENT = 253_402_300_799_999  # Unix milliseconds: the last that a date can be written for
# What acts on the place where text is shown instead of being seen there: C0, DEL and C1 controls,
# line and paragraph separators, directional marks, embeddings, overrides and isolates (UAX #9, 2),
# and surrogates, which no terminal, file or topic can carry. Then what has no width: with it a name
# looks like another one (Default_Ignorable_Code_Point, UAX #44).
_ACTING = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x00AD,
    0x034F,
    0x061C,
    *range(0x115F, 0x1161),
    *range(0x17B4, 0x17B6),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0x3164,
    *range(0xD800, 0xE000),
    0xFEFF,
    0xFFA0,
    *range(0x1BCA0, 0x1BCA4),
    *range(0xE0000, 0xE0100),
)


def _shown(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)  # control pictures
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_VISIBLE = {code: _shown(code) for code in _ACTING}
_ANSI_C = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", "'": r"\'"}


def duration(milliseconds: float) -> str:
    """The two largest units: `5s`, `4m 12s`, `2h`, `3d 4h`; nothing negative."""
    seconds = int(max(milliseconds, 0) // 1000)
    if seconds < 60:
        return f"{seconds}s" if seconds or milliseconds <= 0 else "<1s"
    return _of_seconds(seconds)


# Each partition that is not OK is told of with durations and rates, many with the same.
@functools.lru_cache(maxsize=4096)
def _of_seconds(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}m {rest}s" if rest else f"{minutes}m"
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {rest}m" if rest else f"{hours}h"
    days, rest = divmod(hours, 24)
    return f"{days}d {rest}h" if rest else f"{days}d"


def grouped(number: int) -> str:
    """Digits in groups of three: `2,101`."""
    return f"{number:,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`0 groups`, `1 group`, `2,101 groups`; `plural` where an s does not make it."""
    return f"{grouped(count)} {noun if count == 1 else plural or f'{noun}s'}"


LONGEST_LINK = 2_000  # characters; browsers and services cut longer ones, and they lead nowhere


def is_web_link(text: str) -> bool:
    """Whether it is a URL of http or https, and not too long."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    fit = text.isascii() and text.isprintable() and " " not in text and len(text) <= LONGEST_LINK
    return parts.scheme in ("http", "https") and bool(parts.hostname) and fit


def records(count: int | None) -> str:
    """`1 record`, `2,101 records`; `unknown records` for None and Kafka's -1."""
    if count is None or count < 0:
        return "unknown records"
    return counted(count, "record")


def condition(event_type: str) -> str:
    """What an incident is about, of the type of its events: `consumer status`, `retention`."""
    subject = event_type.split(".")[2]
    return "consumer status" if subject == "status" else subject


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and `…` where it has more than `limit` characters (at least 1)."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def in_sentence(words: str) -> str:
    """With a small letter, but for what is always in capitals."""
    return words if words[:2].isupper() else words[:1].lower() + words[1:]


def utc(milliseconds: int) -> str:
    """`2026-11-21 07:00:00 UTC`; `never` when there is no time."""
    if milliseconds < 0:
        return "never"
    if milliseconds > LATEST_MOMENT:
        return "after the year 9999"
    return moment(milliseconds).strftime("%Y-%m-%d %H:%M:%S UTC")


def clock(milliseconds: int, now: int) -> str:
    """`06:23 UTC`; of another day than `now` (Unix milliseconds as well) with the day before it."""
    day, time = moment(milliseconds).strftime("%Y-%m-%d %H:%M UTC").split(" ", 1)
    return time if moment(now).strftime("%Y-%m-%d") == day else f"{day} {time}"


def as_of(sentence: str, at: int, now: int) -> str:
    """A sentence that was said `at` that time (Unix milliseconds): `at 06:23 UTC: …`."""
    return f"at {clock(at, now)}: {sentence}"


def moment(milliseconds: int) -> datetime:
    """A Unix time as a date; the first or last that a date can be written for, where it is none."""
    return datetime.fromtimestamp(min(max(milliseconds, 0), LATEST_MOMENT) / 1000, UTC)


_PER = ((1, "s"), (60, "min"), (3600, "h"))


@functools.lru_cache(maxsize=4096)
def rate(per_second: float) -> str:
    """`40/s`, `1.5/s`, `12/min`, `3/h`, `0/s`: what is worth reading of it."""
    return rates(per_second)[0]


def rates(*per_second: float) -> list[str]:
    """Several in one unit, in which the least that is not 0 has at least a digit."""
    least = min((each for each in per_second if each), default=1.0)
    factor, unit = next((per for per in _PER if least * per[0] >= 1), _PER[-1])
    return [_rate(each * factor, unit) for each in per_second]


def _rate(value: float, unit: str) -> str:
    if not value:
        return f"0/{unit}"
    if value < 1:
        return f"less than 1/{unit}"
    if value >= 10:
        return f"{grouped(round(value))}/{unit}"
    return f"{value:.1f}".removesuffix(".0") + f"/{unit}"


def shell_word(text: str) -> str:
    """A name as a word of a command to copy: a shell takes it as that name, and it is seen whole.

    Quoted as POSIX does, `'a b'`; with characters that act or are not seen as Bash, zsh and ksh do,
    `$'new\\nline'`.
    """
    if all(map(_is_seen, text)):
        return shlex.quote(text)
    return f"$'{''.join(map(_in_ansi_c, text))}'"


def _is_seen(character: str) -> bool:
    return character.isprintable() and ord(character) not in _VISIBLE


def _in_ansi_c(character: str) -> str:
    if escaped := _ANSI_C.get(character):
        return escaped
    if _is_seen(character):
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    """Text from outside as it may be shown: on one line, nothing in it acts on a terminal or page.

    Control characters become their pictures (ESC `␛`, newline `␊`), line separators, directional
    overrides, lone surrogates and what has no width escapes (`\\u202e`), blanks at an end or beside
    another `␠`. Other characters stay.
    """
    shown = text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)
    return _UNSEEN_BLANK.sub("␠", shown) if " " in shown else shown


_UNSEEN_BLANK = re.compile(r"^ | $| (?= )|(?<= ) ")


_SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,6})\s*([wdhms])\s*")


def seconds_of(text: str) -> int | None:
    """Of `2h`, `1d12h`, `90m`, `45 s`; None for what is no span."""
    rest, total = text.strip(), 0
    while found := _PART.match(rest):
        total += int(found[1]) * _SECONDS[found[2]]
        rest = rest[found.end() :]
    return None if rest or not total else total


LOST_RECORDS, NEAR_LOSS = "lost_records", "min_time_to_loss"
LOSS_LIMITS = frozenset((LOST_RECORDS, NEAR_LOSS))
"""Limits of objectives that are about one fact: what retention deletes unread."""


class Broken(Protocol):
    """A limit that is not kept, as contracts have it."""

    @property
    def limit(self) -> str: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def undated(self) -> bool: ...


def deleted(count: int, place: str, partitions: int = 1) -> str:
    """`3,110 unread records deleted (orders/0 and 2 more)`.

    `place`: the partition that has lost most, of so many `partitions`; empty where unknown.
    """
    more = f" and {grouped(partitions - 1)} more" if partitions > 1 else ""
    where = f" ({place}{more})" if place else ""
    return f"{counted(count, 'unread record')} deleted{where}"


def after_loss(topic: str = "", *, undated: bool = False) -> str:
    """Say what to do once records are lost, whatever the root is; `topic`: of one of them.
    `undated`: its records have no timestamp that can be true, and retention goes by those.
    """
    of_topic = f" of {topic}" if topic else ""
    fix = f"Raise retention.ms{of_topic} now, unless somebody deleted them, and fix the consumer"
    if undated:
        fix = f"Set message.timestamp.type{of_topic} to LogAppendTime: its timestamps are too old"
    return f"{fix}; deleted records cannot be recovered"


def before_loss(topic: str = "") -> str:
    """Say what to do before records are lost, likewise."""
    of_topic = f" of {topic}" if topic else ""
    return f"Raise retention.ms{of_topic} until the group has caught up"


def loss_step(broken: Iterable[Broken]) -> str:
    """Say what to do of a loss, now or to come; empty where there is none."""
    by_limit = {each.limit: each for each in broken}
    if (lost := by_limit.get(LOST_RECORDS)) is not None:
        return after_loss(lost.topic or "", undated=lost.undated)
    near = by_limit.get(NEAR_LOSS)
    return "" if near is None else before_loss(near.topic or "")


def running_out(place: str, left_ms: float, limit_ms: float, now: int) -> str:
    """`orders/0 may lose unread records at 07:22 UTC (in 30m; limit 1h)`.

    `left_ms`: until then from `now`, Unix milliseconds.
    """
    limit = f"limit {duration(limit_ms)}"
    if left_ms < 1000:
        return f"{place} may lose unread records now ({limit})"
    at = clock(now + round(left_ms), now)
    return f"{place} may lose unread records at {at} (in {duration(left_ms)}; {limit})"
