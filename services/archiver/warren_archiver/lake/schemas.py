"""Spark schemas of the contracts: one column per field, nullable where the contract allows null.

Whole numbers are bigint, base64 bytes are binary, dicts are maps and models are structs.
"""

from __future__ import annotations

import types
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_SCALARS: dict[Any, DataType] = {
    str: StringType(),
    int: LongType(),
    float: DoubleType(),
    bool: BooleanType(),
    bytes: BinaryType(),
    datetime: TimestampType(),
}


def struct_of(model: type[BaseModel]) -> StructType:
    """The columns of a contract. A field with a default may be absent, and is null then.

    Raises TypeError for an annotation that has no counterpart in Spark.
    """
    fields = []
    for name, field in model.model_fields.items():
        data_type, nullable = _column(field.annotation, f"{model.__name__}.{name}")
        fields.append(StructField(name, data_type, nullable or not field.is_required()))
    return StructType(fields)


def versions(model: type[BaseModel]) -> tuple[int, ...]:
    """Values of `v` that the contract knows; empty for a contract without versions."""
    field = model.model_fields.get("v")
    return get_args(field.annotation) if field else ()


def _column(annotation: Any, where: str) -> tuple[DataType, bool]:
    """Type, and whether null is allowed."""
    if get_origin(annotation) is Annotated:
        return _column(get_args(annotation)[0], where)
    if get_origin(annotation) in (Union, types.UnionType):
        chosen = [arm for arm in get_args(annotation) if arm is not type(None)]
        if len(chosen) == 1:
            return _column(chosen[0], where)[0], True
    return _required(annotation, where), False


def _required(annotation: Any, where: str) -> DataType:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return struct_of(annotation)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return ArrayType(*_column(arguments[0], where))
    if origin is dict and isinstance(_required(arguments[0], where), StringType):
        return MapType(StringType(), *_column(arguments[1], where))
    if origin is Literal and len(kinds := {type(value) for value in arguments}) == 1:
        return _required(kinds.pop(), where)
    raise TypeError(f"{where}: {annotation} has no counterpart in Spark")


def stored(schema: StructType) -> StructType:
    """The same columns, all nullable: a tombstone has none of them."""
    return StructType([StructField(f.name, _nullable(f.dataType), True) for f in schema])


def _nullable(data_type: DataType) -> DataType:
    match data_type:
        case StructType():
            return stored(data_type)
        case ArrayType():
            return ArrayType(_nullable(data_type.elementType), True)
        case MapType():
            return MapType(data_type.keyType, _nullable(data_type.valueType), True)
        case _:
            return data_type
