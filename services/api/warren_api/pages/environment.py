"""The Jinja2 environment of the pages: everything escaped, nothing silently undefined."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from warren.path_segments import segment
from warren.reason_words import in_short
from warren.report_files import group_anchor
from warren.words import counted, duration, grouped, is_web_link, rate, rates, shell_word, visible
from warren_core.standing.facts import late_of, loss_left
from warren_core.standing.problems import problems_in

from warren_api.http.access import who_reads
from warren_api.http.access_control import FRAGMENTS
from warren_api.model.cluster import when
from warren_api.pages.glossary import FIGURES, STATUSES
from warren_api.pages.group_sections import row_id
from warren_api.pages.headline import spoken
from warren_api.pages.sentences import clock_of, in_words, said, said_then, without_commands

# Why a group is as late as it is said to be, or why nobody knows; exact needs no words.
REASONS = {
    "exact": "",
    "caught_up": "nothing left to consume",
    "estimated": "estimated, the topic is not read",
    "control_only": "only transaction markers left",
    "beyond_end": "committed an offset that the log does not have",
    "open_transaction": "a transaction is open: who reads committed records waits for its end",
    "expired": "deleted before it was consumed",
    "no_commit": "never committed",
    "bad_timestamp": "record without a usable time",
    "timeout": "not measured in time",
    "not_authorised": "not allowed to read the topic",
}

# Why nobody knows how long until records are lost.
LOSS_REASONS = {
    "retention_bytes": "retention.bytes deletes records at any age",
    "size_unknown": "retention.bytes deletes records; how fast the log grows was not seen",
    "not_authorised": "retention.bytes deletes records; DESCRIBE on the cluster tells the size",
    "config_unknown": "the retention of a topic is unknown: DESCRIBE_CONFIGS on it tells it",
    "oldest_unknown": "how old the oldest record is that was not consumed is not known",
}


@cache
def environment() -> Environment:
    """One: it has compiled what it was asked for."""
    templates = Environment(
        loader=PackageLoader("warren_api.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., object]] = {
        "counted": counted,
        "duration": duration,
        "grouped": grouped,
        "meaning": lambda status: STATUSES[status].short if status in STATUSES else "",
        "because": lambda reason: REASONS.get(reason or "", ""),
        "why_no_loss": lambda reason: LOSS_REASONS.get(reason or "", ""),
        "percent": lambda share: f"{int(share * 100)}\u202f%",
        "segment": segment,
        "when": when,
        "spoken": spoken,
        "utc": _utc,
        "age": age,
        "md": markdown,
        "rounded": rounded,
        "clock": clock_of,
        "said": said,
        "said_then": said_then,
        "in_short": in_short,
        "query": urlencode,
        "rate": rate,
        "rates": lambda several: rates(*several),
        "row_id": row_id,
        "visible": visible,
        "without_commands": without_commands,
        "listed": in_words,
        "late": late_of,
        "loss": loss_left,
        "problems": problems_in,
        "name": _name,
        "name_in_parts": _name_in_parts,
    }
    templates.filters |= filters
    templates.globals |= {
        "group_anchor": group_anchor,
        "figures_mean": FIGURES,
        "command": command,
        "who_reads": who_reads,
        "describe": lambda kind, *names: command("describe", kind, "/".join(names)),
    }
    templates.tests["web_link"] = is_web_link
    return templates


def command(*words: str) -> str:
    """What to write into a terminal: a shell takes it as it is meant, whatever the names."""
    return " ".join(map(shell_word, ("warren", *words)))


def _name(text: object) -> Markup:
    """A name from outside: nothing in it acts on the page, its direction ends with it."""
    return Markup("<bdi>%s</bdi>") % escape(visible(str(text)))


END = 12  # characters of a long name that stay in sight where it is cut
LONG_NAME = 20


def _name_in_parts(text: str) -> Markup:
    """Names of one team begin alike: where there is no room, what is before the end is cut."""
    return _name(text) if len(text) <= LONG_NAME else _name(text[:-END]) + _name(text[-END:])


def age(milliseconds: int) -> str:
    """As a compact duration; from ten minutes on without seconds, which say nothing then."""
    rest = milliseconds % 60_000 if milliseconds >= 600_000 else 0
    return duration(milliseconds - rest)


_MARKDOWN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)")


def markdown(text: str) -> str:
    """A text in which nothing acts on the Markdown around it."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", " ".join(text.split()))


_UNITS = re.compile(r"(\d+)d (\d+)h|(\d+m) \d+s")


def rounded(words: str) -> str:
    """A duration for a phone: `2d` for `1d 23h`, `4m` for `4m 12s`; other words as they are."""
    return _UNITS.sub(lambda of: of[3] or f"{int(of[1]) + (int(of[2]) >= 12)}d", words)


def _utc(milliseconds: int) -> str:
    """ISO 8601 to the second; also as a `datetime` attribute."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):  # a clock far off, or a foreign event
        return str(milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


RETRY_SECONDS = "1"


def status_of(found: object, *, ready: bool) -> HTTPStatus:
    """`ready`: whether Warren's topics were read when it was looked for, so before that."""
    if found:
        return HTTPStatus.OK
    return HTTPStatus.NOT_FOUND if ready else HTTPStatus.SERVICE_UNAVAILABLE


def template_of(request: Request, noun: str) -> str:
    """The whole page, or what its script asks for again and again."""
    return f"{noun}{'_fragment' if is_fragment(request) else ''}.html"


def is_fragment(request: Request) -> bool:
    return bool(request.scope["path"].startswith(FRAGMENTS))
