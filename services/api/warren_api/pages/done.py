"""What the last click on many groups has done: the overview that it leads back to says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Depends, Query
from warren.contracts import Silence
from warren.silences import Silences
from warren.words import counted

What = Literal["", "silenced", "acknowledged", "ended", "withdrawn"]
LONGEST = 2_000  # characters of ids in an address
Number = Annotated[int, Query(ge=0, le=1_000_000)]
Moment = Annotated[int, Query(ge=0, le=10**15)]


@dataclass(frozen=True)
class Done:
    """`of`: how many groups, or silences and acknowledgements that were taken back. `others`:
    groups that were asked for in vain. `ids`: of the silences that began. `at`: when all were
    acknowledged.
    """

    what: What = ""
    of: int = 0
    others: int = 0
    ids: str = ""
    at: int = 0

    def on(self, path: str) -> str:
        """The address that leads there and says it."""
        said = {
            "done": self.what,
            "of": self.of,
            "others": self.others,
            "ids": self.ids,
            "at": self.at,
        }
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{path}{'&' if '?' in path else '?'}{query}"

    @property
    def words(self) -> str:
        if self.what == "ended":
            return f"{counted(self.of, 'silence')} ended."
        if self.what == "withdrawn":
            return f"{_counted(self.of, 'acknowledgement')} withdrawn."
        said = f"{_counted(self.of, 'group')} {self.what}"
        if not self.others:
            return said if self.what == "silenced" else f"{said}."
        have = "has" if self.others == 1 else "have"
        return f"{said}. {counted(self.others, 'group')} {have} no open incident."

    def silences(self, known: Silences, now: int) -> list[Silence]:
        """Those that began and have not ended."""
        found = [known.silence(id_) for id_ in self.ids.split(",") if id_]
        return [each for each in found if each is not None and each.ends_at > now]


def _counted(count: int, noun: str) -> str:
    return counted(count, noun) if count else f"No {noun}"


def _done(
    done: What = "",
    of: Number = 0,
    others: Number = 0,
    ids: Annotated[str, Query(max_length=LONGEST)] = "",
    at: Moment = 0,
) -> Done:
    return Done(done, of, others, ids, at)


DoneAsked = Annotated[Done, Depends(_done)]


def of_one_click(silence: Silence, known: Silences, now: int) -> list[Silence]:
    """Those that began at once with this one, itself among them, and have not ended."""
    key = _click(silence)
    return [each for each in known.all() if _click(each) == key and each.ends_at > now]


def _click(silence: Silence) -> tuple[object, ...]:
    return silence.begins_at, silence.ends_at, silence.by, silence.why
