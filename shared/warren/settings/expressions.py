"""Lists of regular expressions in settings."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from warren.patterns import Expression, InvalidExpression
from warren.section import Pattern


def _compilable(expressions: list[str]) -> list[str]:
    for expression in expressions:
        try:
            Expression(expression)
        except InvalidExpression as error:
            raise ValueError(
                f"{expression!r} is no regular expression: {error.problem} "
                "(RE2, as Go and Burrow have it)"
            ) from None
    return expressions


Expressions = Annotated[list[Pattern], AfterValidator(_compilable)]
OneOrMoreExpressions = Annotated[
    Expressions, BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]
"""A single one may be written without brackets."""
