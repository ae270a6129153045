"""What is wrong with a value of a client or of the settings, in our words instead of the
validator's. By its types of errors; `ctx` of one holds the limits.
"""

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
    "too_short": "must have {min_length} or more entries",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "json_invalid": "is no JSON that can be read",
}


_SHAPES = {
    r"^[A-Za-z0-9._-]+$": "must be of letters, digits, . _ -",
    r"^[A-Za-z0-9._-]{1,64}$": "must be of letters, digits, . _ -, 64 at most",
    r"^[a-zA-Z_][a-zA-Z0-9_]*$": "must be of letters, digits and _, and begin with no digit",
    r"^([A-Za-z_]\w*([.][A-Za-z_]\w*)*)?$": "must be a name, or names with dots between them",
    r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$": "must be a time of day, hh:mm",
    r"^sha256:[0-9a-f]{64}$": "must be sha256: and 64 hex digits, as `warren token` prints it",
    r"^[^\s@]+@[^\s@]+$": "must be an address such as warren@example.org",
    r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$": "must be one line",
    r"^[!-~][ -~]*$": "must be printable ASCII, such as application/json",
}
"""What the patterns ask for."""

_THEIRS = frozenset(get_args(ErrorType))


def words_of(error: Mapping[str, Any], otherwise: str = "is no value that is taken here") -> str:
    """`error`: as pydantic describes one. `otherwise`: of one that there are no words for."""
    context = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in (error.get("ctx") or {}).items()
    }
    if error["type"] in ("value_error", "assertion_error"):  # of our own validators
        return str(context.get("error", error["msg"]))
    if error["type"] not in _THEIRS:  # likewise
        return str(error["msg"])
    known = _SHAPES.get(str(context.get("pattern"))) or _WORDS.get(error["type"])
    return otherwise if known is None else known.format(**context)
