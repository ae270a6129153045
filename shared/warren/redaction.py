"""Redaction by value: what must stay secret is taken out of text that comes from outside.

A receiver may send back what it was sent, whole or in part, escaped or encoded. Names of fields say
nothing there; only the values themselves can be recognised.
"""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

REDACTED = "[redacted]"
LEAST = 3  # characters; what is shorter hides nothing and stands in every text
WORD = 6  # characters; what is shorter is only recognised where it stands alone


class Redaction:
    """Replaces all forms of some secrets; call it with a text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms: list[str] = []
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """More of them, beside those that there are."""
        parts = {part for secret in secrets for part in _parts(secret)}
        found = {form for part in parts if len(part) >= LEAST for form in _forms(part)}
        found.update(self._forms)
        self._forms = sorted(found, key=lambda form: (-len(form), form))
        alternatives = "|".join(_pattern(form) for form in self._forms)
        self._pattern = re.compile(alternatives) if alternatives else None

    def __call__(self, text: str, *, cut: bool = False) -> str:
        """The text without secrets. `cut`: it may end in the middle of one."""
        if self._pattern is None:
            return text
        redacted = self._pattern.sub(REDACTED, text)
        return self._without_beginning(redacted) if cut else redacted

    def _without_beginning(self, text: str) -> str:
        """Without the beginning of a secret at the text's end."""
        starts = (
            start
            for form in self._forms
            for start in range(max(len(text) - len(form), 0), len(text))
            if form.startswith(text[start:])
        )
        start = min(starts, default=None)
        return text if start is None else text[:start] + REDACTED


def _parts(secret: str) -> Iterator[str]:
    """The secret, or what is secret in a URL or in a header's value."""
    if "://" in secret:
        yield from _url_parts(secret)
        return
    yield secret
    yield secret.removeprefix("whsec_")
    scheme, _, credentials = secret.partition(" ")
    if credentials and scheme.isalnum():  # RFC 9110, 11.4: `Bearer …`, `Basic …`
        yield credentials
        try:
            decoded = base64.b64decode(credentials, validate=True).decode()
        except ValueError:  # no base64, or no text in it
            return
        yield decoded
        yield decoded.partition(":")[2]


def _url_parts(url: str) -> Iterator[str]:
    """Path, query and user of a URL, and what of them may be a token. The host is no secret."""
    parts = urlsplit(url)
    if parts.path.strip("/"):
        yield parts.path
        yield from (piece for piece in parts.path.split("/") if len(piece) >= WORD)
    if parts.query:
        yield parts.query
        yield f"{parts.path}?{parts.query}"
        yield from (value for _, value in parse_qsl(parts.query))
    if parts.fragment:
        yield parts.fragment
    if parts.username or parts.password:
        yield parts.netloc.rpartition("@")[0]
        yield from (part for part in (parts.username, parts.password) if part)


def _forms(secret: str) -> set[str]:
    """The secret as it is, decoded, escaped and encoded."""
    forms: set[str] = set()
    for plain in {secret, unquote(secret)}:
        quoted = {quote(plain, safe=""), quote(plain), quote_plus(plain)}
        escaped = json.dumps(plain)[1:-1]
        forms |= {plain, html.escape(plain), escaped, escaped.replace("/", "\\/")}
        forms |= quoted | {re.sub("%..", lambda code: code[0].lower(), form) for form in quoted}
        data = plain.encode(errors="surrogateescape")
        forms |= {data.hex(), data.hex().upper()} | _base64_forms(data)
    return {form for form in forms if len(form) >= LEAST}


def _base64_forms(data: bytes) -> set[str]:
    """What base64 makes of it wherever it stands in a longer text, and however that begins."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data)
        begin = -(-before * 8 // 6)
        end = (before + len(data)) * 8 // 6
        middle = encoded[begin:end].decode()
        if len(middle) >= WORD:
            forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return forms


def _pattern(form: str) -> str:
    literal = re.escape(form)
    return literal if len(form) >= WORD else rf"(?<!\w){literal}(?!\w)"
