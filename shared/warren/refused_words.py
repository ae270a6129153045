"""What is wrong with a value of a client or of the settings, in our words instead of the
validator's. By its types of errors; `ctx` of one holds the limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic_core.core_schema import ErrorType

_WORDS = {
    "missing": "is needed",
    "extra_forbidden": "is not known; /docs lists what is taken",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "string_type": "must be a text",
    "string_unicode": "must be a text in UTF-8",
    "literal_error": "must be {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "json_invalid": "is no JSON that can be read",
}


_THEIRS = frozenset(get_args(ErrorType))


def words_of(error: Mapping[str, Any], otherwise: str = "is no value that is taken here") -> str:
    """`error`: as pydantic describes one. `otherwise`: of one that there are no words for."""
    context = {name: _whole(value) for name, value in (error.get("ctx") or {}).items()}
    if error["type"] in ("value_error", "assertion_error"):  # of our own validators
        return str(context.get("error", error["msg"]))
    if error["type"] not in _THEIRS:  # likewise
        return str(error["msg"])
    known = _WORDS.get(error["type"])
    return otherwise if known is None else known.format(**context)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
