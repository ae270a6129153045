"""Why a record is not what its contract says, as a Spark expression: null when it is.

Checked are JSON, types, the version, that nothing required is missing, at any depth, and that times
can be shown. Rules that tie fields to each other (columns of equal length) are left to whoever
reads the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from warren_archiver.lake.events import EARLIEST, LATEST

MALFORMED = "_malformed"
"""Field of the parsed struct that has the text when it could not be parsed."""
_JSON_SPACE = " \t\r\n"


def reason(text: Column, event: Column, schema: StructType, versions: Sequence[int]) -> Column:
    """`text` is the value as a string, `event` what it was parsed to. A tombstone has no reason."""
    chain = (
        F.when(text.isNull(), F.lit(None).cast("string"))
        .when(~F.is_valid_utf8(text), F.lit("not UTF-8"))
        .when(~_is_object(text), F.lit("not a JSON object"))
        .when(event.isNull() | event[MALFORMED].isNotNull(), F.lit("not JSON, or a wrong type"))
    )
    if versions:
        known = event["v"].isNull() | event["v"].isin(list(versions))
        chain = chain.when(~known, F.concat(F.lit("unknown version "), event["v"].cast("string")))
    for name, lacking in _lacking_fields(event, schema):
        chain = chain.when(lacking, F.lit(f"{name}: missing, or null where null is not allowed"))
    for field in schema.fields:
        if isinstance(field.dataType, TimestampType):  # later ones make Python and Arrow fail
            shown = event[field.name].between(F.lit(EARLIEST), F.lit(LATEST))
            chain = chain.when(~shown, F.lit(f"{field.name}: not within 1970 and 9999"))
    return chain


def _is_object(text: Column) -> Column:
    """The parser alone would take the first element of an array, and ignore what follows."""

    def is_braced(column: Column) -> Column:
        return column.startswith("{") & column.endswith("}")

    # Trimming is slow, and our own services do not write white space.
    return is_braced(text) | is_braced(F.btrim(text, F.lit(_JSON_SPACE)))


def _lacking_fields(struct: Column, schema: StructType) -> Iterator[tuple[str, Column]]:
    for field in schema.fields:
        column = struct[field.name]
        conditions = [] if field.nullable else [column.isNull()]
        if (inner := _lacking(column, field.dataType)) is not None:
            conditions.append(inner)
        if conditions:
            yield field.name, reduce(or_, conditions)


def _lacking(column: Column, data_type: DataType) -> Column | None:
    """Whether something required is null inside; None when nothing inside is required."""
    match data_type:
        case StructType():
            conditions = [condition for _, condition in _lacking_fields(column, data_type)]
            return column.isNotNull() & reduce(or_, conditions) if conditions else None
        case ArrayType():
            return _any_lacking(column, data_type.elementType, data_type.containsNull)
        case MapType():
            values = F.map_values(column)
            return _any_lacking(values, data_type.valueType, data_type.valueContainsNull)
        case _:
            return None


def _any_lacking(elements: Column, element_type: DataType, nullable: bool) -> Column | None:
    def element_lacks(element: Column) -> Column:
        inner = _lacking(element, element_type)
        conditions = [] if nullable else [element.isNull()]
        return reduce(or_, [*conditions, *([] if inner is None else [inner])])

    if nullable and _lacking(elements, element_type) is None:
        return None
    return F.coalesce(F.exists(elements, element_lacks), F.lit(False))
