"""Names as segments of a URL's path.

Browsers take `.` and `..` for the way up, even where they are escaped, and ask for another page.
So `,.` and `,..` stand for them, and `,` for the empty name, which brokers take for a group's: a
comma of a name is escaped, which tells a name `,..` from `..`.
"""

from urllib.parse import quote, unquote

_DOTS = frozenset({"", ".", ".."})


def segment(name: str) -> str:
    """Any Unicode but lone surrogates; a slash of the name is no separator."""
    return f",{name}" if name in _DOTS else quote(name, safe="")


def name_of(written: str) -> str:
    """What `segment` was made of; bytes that are no UTF-8 become U+FFFD."""
    return written[1:] if written[:1] == "," and written[1:] in _DOTS else unquote(written)
