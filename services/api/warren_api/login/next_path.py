"""Where a login leads back to: a path of our own, never another site."""

from __future__ import annotations

from urllib.parse import urlsplit

HOME = "/"
LONGEST = 1500  # characters; cookies have to hold it
_OWN = ("/login", "/logout", "/logged-out")


def next_path(wanted: str) -> str:
    """The path that is wanted, or the first page where it could lead elsewhere.

    Browsers take `//host` and `/\\host` for another site, and take tabs and newlines out first.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or len(wanted) > LONGEST:
        return HOME
    if "\\" in wanted or not wanted.isascii() or not wanted.isprintable() or " " in wanted:
        return HOME
    try:
        url = urlsplit(wanted)
    except ValueError:
        return HOME
    if url.scheme or url.netloc or url.path.startswith(_OWN):
        return HOME
    return wanted
