"""Texts that stand in the code: what templates of pages and mails say, and what errors tell.

They are read from the sources, so that none can be left out. What is filled in is shown as `…`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from jinja2 import Environment

FILLED_IN = "…"
_CODE = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
_SAID_IN_TAGS = re.compile(r'\b(?:aria-label|title|placeholder|alt|value)="([^"]*[a-z][^"]*)"')
_BLOCK = re.compile(r"</?(?:a|b|bdi|code|em|i|small|span|strong|time)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_WORD = re.compile(r"[A-Za-z]{2}")
_EXCEPTIONS = ("SettingsError", "Error", "Unavailable", "Missing", "Problem", "Refused", "Invalid")


def template_texts(path: Path) -> list[str]:
    """What a template says, a line for each block, each once."""
    pieces = []
    expression = False
    for _, kind, value in Environment().lex(path.read_text()):
        if kind == "data":
            pieces.append(value)
        elif kind == "variable_begin":
            expression = True
        elif kind == "variable_end" and expression:
            pieces.append(FILLED_IN)
            expression = False
    html = _CODE.sub("\n", "".join(pieces))
    said = [*_SAID_IN_TAGS.findall(html), *_TAG.sub("\n", _BLOCK.sub("", html)).split("\n")]
    lines = (" ".join(unescape(line).split()) for line in said)
    return list(dict.fromkeys(line for line in lines if _WORD.search(line)))


def error_texts(package: Path) -> list[str]:
    """What the errors that a package raises say, each once, in the order of its files."""
    found = (
        text
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        if _name(node.exc.func).endswith(_EXCEPTIONS)
        for text in [" ".join(_texts(node.exc.args))]
    )
    return list(dict.fromkeys(text for text in found if _WORD.search(text) and " " in text))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.JoinedStr(values=values):
                parts = (
                    str(each.value) if isinstance(each, ast.Constant) else FILLED_IN
                    for each in values
                )
                yield "".join(parts)
