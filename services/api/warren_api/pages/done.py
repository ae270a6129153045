"""What the last click on many groups has done: the overview that it leads back to says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Depends, Query
from warren.contracts import Silence
from warren.silences import Silences
from warren.words import counted

What = Literal["", "silenced", "acknowledged", "ended"]
LONGEST = 2_000  # characters of ids in an address
Number = Annotated[int, Query(ge=0, le=1_000_000)]


@dataclass(frozen=True)
class Done:
    """`of`: how many groups, or silences that were ended. `others`: groups that were asked for in
    vain. `ids`: of the silences that began.
    """

    what: What = ""
    of: int = 0
    others: int = 0
    ids: str = ""

    def on(self, path: str) -> str:
        """The address that leads there and says it."""
        said = {"done": self.what, "of": self.of, "others": self.others, "ids": self.ids}
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{path}{'&' if '?' in path else '?'}{query}"

    @property
    def words(self) -> str:
        if self.what == "ended":
            return f"{counted(self.of, 'silence')} ended."
        said = f"{counted(self.of, 'group') if self.of else 'No group'} {self.what}"
        if not self.others:
            return said if self.what == "silenced" else f"{said}."
        have = "has" if self.others == 1 else "have"
        return f"{said}. {counted(self.others, 'group')} {have} no open incident."

    def silences(self, known: Silences, now: int) -> list[Silence]:
        """Those that began and have not ended."""
        found = [known.silence(id_) for id_ in self.ids.split(",") if id_]
        return [each for each in found if each is not None and each.ends_at > now]


def _done(
    done: What = "",
    of: Number = 0,
    others: Number = 0,
    ids: Annotated[str, Query(max_length=LONGEST)] = "",
) -> Done:
    return Done(done, of, others, ids)


DoneAsked = Annotated[Done, Depends(_done)]


def of_one_click(silence: Silence, known: Silences, now: int) -> list[Silence]:
    """Those that began at once with this one, itself among them, and have not ended."""
    key = _click(silence)
    return [each for each in known.all() if _click(each) == key and each.ends_at > now]


def _click(silence: Silence) -> tuple[object, ...]:
    return silence.begins_at, silence.ends_at, silence.by, silence.why
