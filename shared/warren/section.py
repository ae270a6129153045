"""What the tables of warren.toml have in common."""

from typing import Annotated, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

MOST_SECONDS = 1e9  # 31 years; threads cannot wait for more than ten times that
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS)]
SecondsOrNone = Annotated[float, Field(ge=0, le=MOST_SECONDS)]
Pattern = Annotated[str, StringConstraints(min_length=1)]


class Section(BaseModel):
    """A table of warren.toml. Unknown keys are refused, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_boolean_for_a_number(cls, table: object) -> object:
        """`true` would be 1."""
        refused = [
            InitErrorDetails(
                type=PydanticCustomError("boolean", "true and false are not accepted here"),
                loc=(name,),
                input=value,
            )
            for name, value in (table.items() if isinstance(table, dict) else ())
            if isinstance(value, bool) and not _may_be_boolean(_field(cls, name))
        ]
        if refused:
            raise ValidationError.from_exception_data(cls.__name__, refused)
        return table


def _field(section: type[Section], name: str) -> FieldInfo | None:
    """By the name that it has in the file."""
    fields = section.model_fields
    return fields.get(name) or next((f for f in fields.values() if f.alias == name), None)


def _may_be_boolean(field: FieldInfo | None) -> bool:
    """An unknown one is refused as such."""
    return field is None or bool in (field.annotation, *get_args(field.annotation))
