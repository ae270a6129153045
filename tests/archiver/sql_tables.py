"""Tables in DuckDB, in which the archiver's SQL runs without a JVM."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from tempfile import NamedTemporaryFile
from typing import Any

import duckdb
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    StructField,
    StructType,
)
from support.archive_events import TOPIC_ID, Record
from support.lake_files import plain
from support.silver_rows import at, nothing
from warren.contracts.topics import Topic
from warren.settings import Settings
from warren_archiver.dialect import MACROS, for_duckdb, sql
from warren_archiver.gold.catalogue import OBJECTIVE_DAYS
from warren_archiver.lake.contract_view import COORDINATES, stored, struct_of
from warren_archiver.lake.table import TEXT, TIME, Table
from warren_archiver.refining.models import MODELS, MOMENTS
from warren_archiver.refining.refine import values
from warren_archiver.silver.catalogue import QUARANTINE

_KINDS = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMPTZ",
    "date": "DATE",
    "binary": "BLOB",
}
Row = dict[str, Any]


def kind(of: DataType) -> str:
    """Spark's type in DuckDB's words."""
    match of:
        case ArrayType():
            return f"{kind(of.elementType)}[]"
        case MapType():
            return f"MAP(VARCHAR, {kind(of.valueType)})"
        case StructType():
            fields = (f'"{field.name}" {kind(field.dataType)}' for field in of.fields)
            return f"STRUCT({', '.join(fields)})"
        case _:
            return _KINDS[of.simpleString()]


class SqlTables:
    """What Spark has as views, of few rows."""

    def __init__(self) -> None:
        self._database = duckdb.connect()
        self._database.execute(f"SET TimeZone = 'UTC'; {MACROS}")

    def put(self, name: str, columns: Mapping[str, DataType], rows: Sequence[Row]) -> None:
        """Makes a table; what a row does not say is null."""
        kinds = {column: kind(of) for column, of in columns.items()}
        read = {column: "VARCHAR" if of == "BLOB" else of for column, of in kinds.items()}
        listed = ", ".join(
            f'from_base64("{column}") AS "{column}"' if of == "BLOB" else f'"{column}"'
            for column, of in kinds.items()
        )
        with NamedTemporaryFile("w", suffix=".json") as file:
            for row in rows:
                file.write(json.dumps({column: plain(row.get(column)) for column in kinds}) + "\n")
            file.flush()
            self._database.execute(f'DROP TABLE IF EXISTS "{name}"')
            found = self._database.read_json(file.name, columns=read, format="newline_delimited")
            found.query("found", f"SELECT {listed} FROM found").create(name)

    def put_rows(self, table: Table, rows: Sequence[Row]) -> None:
        """Makes a table of the catalogue."""
        given = nothing(table)
        self.put(table.name, {f.name: f.type for f in table.fields}, [given | r for r in rows])

    def made(self, layer: str, table: Table, settings: Settings) -> list[Row]:
        """Rows that a table's SQL makes, in its types, in the order of its key."""
        made = for_duckdb(sql(layer, table.name, values(settings)))
        cast = ", ".join(f'CAST("{f.name}" AS {kind(f.type)}) AS "{f.name}"' for f in table.fields)
        keys = ", ".join(f'"{name}"' for name in table.key)
        found = self._database.execute(f"SELECT {cast} FROM ({made}) ORDER BY {keys}")
        return [dict(zip(table.names, row, strict=True)) for row in found.fetchall()]


def happened(topic: Topic, record: Record) -> Row:
    """An event as the archiver's SQL finds it."""
    text, who = record.value, (record.key or b"").decode().split("|", 1)
    event: Row = {} if text is None else json.loads(text)
    own = event.get("data", event)
    cluster, group = own.get("cluster", who[0]), own.get("group", who[-1])
    said = event.get(MOMENTS[topic], record.timestamp_ms)
    moment = said if isinstance(said, str) else at(said).isoformat()
    place = {
        "kafka_topic": record.topic,
        "kafka_topic_id": TOPIC_ID,
        "kafka_partition": record.partition,
        "kafka_offset": record.offset,
        "kafka_timestamp": at(record.timestamp_ms),
    }
    about = {"cluster": cluster, "group": group, "happened": moment}
    more = {"kafka_value": text, "deleted": text is None or event.get("deleted", False)}
    return event | about | place | more


def view_schema(topic: Topic) -> StructType:
    """Columns of a topic's accepted events."""
    contract = stored(struct_of(topic.event))
    own = [field for field in contract if field.name != "deleted"]
    more = [StructField("kafka_value", BinaryType()), StructField("deleted", BooleanType())]
    return StructType([*COORDINATES.fields, *more, *own, StructField("date", DateType())])


def event_columns(topic: Topic) -> dict[str, DataType]:
    """Of a topic's events, as SQL finds them."""
    columns = {field.name: field.dataType for field in view_schema(topic)}
    return columns | {"cluster": TEXT, "group": TEXT, "happened": TIME}


def whole(records: Sequence[Record], settings: Settings) -> dict[str, list[Row]]:
    """All tables from all events at once: what they have to be, however they came about. Records
    are of topics `warren.…`, and events all of them."""
    tables, made = SqlTables(), dict[str, list[Row]]()
    for model in MODELS:
        if model.table in (QUARANTINE, OBJECTIVE_DAYS):
            continue
        if model.topic is not None:
            name = model.topic.full_name("warren.")
            events = [happened(model.topic, each) for each in records if each.topic == name]
            tables.put("events", event_columns(model.topic), events)
        tables.put_rows(replace(model.table, name="stored"), [])
        for source in model.sources:
            tables.put_rows(source, made[source.name])
        made[model.name] = tables.made(model.layer, model.table, settings)
    return made
