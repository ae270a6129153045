"""Regular expressions of clients: matched in linear time, so that none can keep the API busy.

Python's `re` backtracks: `(a+)+$` takes ages over one long name. pydantic brings Rust's regex
engine, which does not: https://docs.rs/regex/latest/regex/#syntax.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema


def matcher(pattern: str) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text.

    Raises ValueError that says what is wrong with the pattern.
    """
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError as error:
        *_, cause = str(error).strip().splitlines()
        problem = cause.strip().removeprefix("error: ").removeprefix("SchemaError: ")
        raise ValueError(f"not a regular expression: {problem}") from None
    return validator.isinstance_python
