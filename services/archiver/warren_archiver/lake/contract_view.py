"""A topic's events by their contract: accepted ones with its columns, refused ones as raw bytes.

Computed from bronze whenever it is asked for: a field that is new to the contract has values for
all that was archived before.
"""

import operator
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyspark.sql import (
    Column,
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from warren.contracts import ClusterEvent, TopicsEvent
from warren.contracts.event import MOST_NAME, Event, KeyedEvent
from warren.contracts.topics import Topic

from warren_archiver.lake.lake import EARLIEST, LATEST

MALFORMED = "_malformed"
"""Field of the parsed struct that has the text when it could not be parsed."""
_LACKING = "missing, null or a value that is not allowed, or columns that differ in length"
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
        chain = chain.when(lacking, F.lit(f"{name}: {_LACKING}"))
    for field in schema.fields:
        if isinstance(field.dataType, TimestampType):  # later ones make Python and Arrow fail
            shown = event[field.name].between(F.lit(EARLIEST), F.lit(LATEST))
            chain = chain.when(~shown, F.lit(f"{field.name}: not within 1970 and 9999"))
    return chain


def of_another(event: Column, contract: type[Event]) -> Column:
    """Why a record is not whose its key says, as `KeyedEvent.from_record` refuses it for all other
    readers; null where nothing is wrong.
    """
    if not issubclass(contract, KeyedEvent):
        return F.lit(None).cast("string")
    own = event["data"] if "data" in contract.model_fields else event
    if contract is TopicsEvent:
        name = F.lit(None).cast("string")  # its key is the cluster's alone
    else:
        name = own["collector" if contract is ClusterEvent else "group"]
    key = F.col("kafka_key").cast("string")
    if contract.whole is not KeyedEvent.whole:
        key = F.regexp_replace(key, r"^\+[0-9]+\|", "")
    return (
        F.when(event.isNull(), F.lit(None))
        .when(F.length(name) > MOST_NAME, F.lit("group: too long a name"))
        .when(
            ~key.eqNullSafe(F.concat_ws("|", own["cluster"], name)),
            F.lit("key: not that of the event's cluster and group"),
        )
    )


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
        if (inner := _lacking(column, field.dataType, field.metadata)) is not None:
            conditions.append(inner)
        if conditions:
            yield field.name, reduce(or_, conditions)


def _lacking(column: Column, data_type: DataType, allowed: Mapping[str, Any]) -> Column | None:
    """Whether something inside is not as the contract has it; None when it asks for nothing."""
    match data_type:
        case StructType():
            conditions = [condition for _, condition in _lacking_fields(column, data_type)]
            conditions += _uneven(column, data_type)
            return column.isNotNull() & reduce(or_, conditions) if conditions else None
        case ArrayType():
            return _any_lacking(column, data_type.elementType, data_type.containsNull, allowed)
        case MapType():
            values = F.map_values(column)
            return _any_lacking(values, data_type.valueType, data_type.valueContainsNull, allowed)
        case _:
            conditions = list(_outside(column, allowed))
            return F.coalesce(reduce(or_, conditions), F.lit(False)) if conditions else None


def _uneven(struct: Column, schema: StructType) -> Iterator[Column]:
    """Of columns that have one entry per partition, as `require_equal_lengths` refuses them."""
    lists = [field.name for field in schema.fields if isinstance(field.dataType, ArrayType)]
    if "partition" not in lists:
        return
    count = F.size(struct["partition"])
    yield F.size(F.array_distinct(struct["partition"])) != count
    for name in lists:
        yield F.when(struct[name].isNull(), False).otherwise(F.size(struct[name]) != count)


def _any_lacking(
    elements: Column, element_type: DataType, nullable: bool, allowed: Mapping[str, Any]
) -> Column | None:
    def element_lacks(element: Column) -> Column:
        inner = _lacking(element, element_type, allowed)
        conditions = [] if nullable else [element.isNull()]
        return reduce(or_, [*conditions, *([] if inner is None else [inner])])

    if nullable and _lacking(elements, element_type, allowed) is None:
        return None
    return F.coalesce(F.exists(elements, element_lacks), F.lit(False))


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
        nullable = nullable or not field.is_required()
        allowed = _allowed(field.annotation, *field.metadata)
        fields.append(StructField(name, data_type, nullable, allowed))
    return StructType(fields)


def _allowed(annotation: Any, *metadata: Any) -> dict[str, Any]:
    """What the contract asks of the numbers and words in a field, at whatever depth."""
    found: dict[str, Any] = {}
    if get_origin(annotation) is Literal:
        return {"words": list(get_args(annotation))}
    # Of a mapping's values alone.
    for part in get_args(annotation)[get_origin(annotation) is dict :]:
        found |= _allowed(part, part)
    for each in metadata:
        found |= _allowed(None, *each.metadata) if isinstance(each, FieldInfo) else {}
        found |= {sign: getattr(each, sign) for sign in ("ge", "le", "lt") if hasattr(each, sign)}
    return found


def _outside(column: Column, allowed: Mapping[str, Any]) -> Iterator[Column]:
    """Null where the column is."""
    if "words" in allowed:
        yield ~column.isin(allowed["words"])
    for sign, refuses in (("ge", operator.lt), ("le", operator.gt), ("lt", operator.ge)):
        if allowed.get(sign, 2**63) < 2**63:  # Spark has no larger whole number
            yield refuses(column, F.lit(allowed[sign]))


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


COORDINATES = StructType(
    [
        StructField("kafka_topic", StringType()),
        StructField("kafka_topic_id", StringType()),
        StructField("kafka_partition", IntegerType()),
        StructField("kafka_offset", LongType()),
        StructField("kafka_timestamp", TimestampType()),
        StructField("kafka_key", BinaryType()),
    ]
)
_DATE = StructField("date", DateType())
_DELETED = StructField("deleted", BooleanType())

REFUSED_SCHEMA = StructType(
    [
        *COORDINATES.fields,
        StructField("reason", StringType()),
        StructField("value", BinaryType()),
        _DATE,
    ]
)
_PARSER = {
    "columnNameOfCorruptRecord": MALFORMED,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}


class ContractView:
    """What becomes of the records of one topic. Needs a session: columns are built once, as that
    takes Python longer than a small batch takes Spark.

    `deleted` is true in a tombstone's row, which has no other column of the contract, and wherever
    the event itself says so. `date` is the UTC day of kafka_timestamp.
    """

    def __init__(self, topic: Topic) -> None:
        contract = struct_of(topic.event)
        text, event, value = F.col("value").cast("string"), F.col("event"), F.col("value")
        parsed = stored(contract).add(MALFORMED, StringType())
        # Bronze's column names to those of the view, beside a contract's own.
        self._parsed = [
            *[F.col(name.removeprefix("kafka_")).alias(name) for name in COORDINATES.names],
            value,
            F.from_json(text, parsed, _PARSER).alias("event"),
        ]
        refused = reason(text, event, contract, versions(topic.event))
        refused = F.coalesce(refused, of_another(event, topic.event))
        self._judged = [F.col("*"), refused.alias("reason")]
        self._is_accepted, self._is_refused = F.col("reason").isNull(), F.col("reason").isNotNull()
        own = {field.name: event[field.name] for field in contract.fields}
        deleted = F.coalesce(own.pop(_DELETED.name, value.isNull()), value.isNull())
        kept = [F.col(name) for name in COORDINATES.names]
        date = F.to_date("kafka_timestamp").alias(_DATE.name)
        columns = [column.alias(name) for name, column in own.items()]
        self._row = [
            *kept,
            value.alias("kafka_value"),
            deleted.alias(_DELETED.name),
            *columns,
            date,
        ]
        self._refused_row = [*kept, F.col("reason"), value, date]

    def parse(self, raw: DataFrame) -> DataFrame:
        """Bronze's columns to the coordinates, `value`, `event` and `reason`."""
        return raw.select(*self._parsed).select(*self._judged)

    def accepted(self, parsed: DataFrame) -> DataFrame:
        """Rows with the contract's columns."""
        return parsed.where(self._is_accepted).select(*self._row)

    def refused(self, parsed: DataFrame) -> DataFrame:
        """What contradicts the contract, and why."""
        return parsed.where(self._is_refused).select(*self._refused_row)


def accepted(events: DataFrame, topic: Topic) -> DataFrame:
    """A topic's events in bronze, with its contract's columns."""
    view = ContractView(topic)
    return view.accepted(view.parse(events))
