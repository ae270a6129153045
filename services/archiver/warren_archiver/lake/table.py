"""What a table is: its columns and what they mean, and by what its rows are told apart."""

from dataclasses import dataclass
from enum import StrEnum

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

TEXT, WHOLE, TIME, FLAG = StringType(), LongType(), TimestampType(), BooleanType()
DAY, SMALL, BYTES, RATIO = DateType(), IntegerType(), BinaryType(), DoubleType()

_NAMES = ("cluster", "group", "topic")


@dataclass(frozen=True, slots=True)
class Field:
    """A column. `meaning` says the unit; `null` what null means, where it may be."""

    name: str
    type: DataType
    meaning: str
    null: str | None = None

    @property
    def description(self) -> str:
        return self.meaning if self.null is None else f"{self.meaning}; null {self.null}"

    @property
    def column(self) -> StructField:
        comment = {"comment": self.description}
        return StructField(self.name, self.type, self.null is not None, comment)


class Kept(StrEnum):
    """For how long rows are."""

    AS_EVENTS = "archiver.keep_days"
    AS_MINUTES = "archiver.minutes_keep_days"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows are unique by `key`. A table with a `date`, its last column, is partitioned by it."""

    name: str
    summary: str
    key: tuple[str, ...]
    fields: tuple[Field, ...]
    kept: Kept = Kept.ALWAYS

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    @property
    def schema(self) -> StructType:
        return StructType([field.column for field in self.fields])

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name == "date")

    @property
    def sought(self) -> list[str]:
        """Columns by which files are passed over: of each file its least and greatest are noted."""
        return [
            field.name
            for field in self.fields
            if field.name in (*self.key, *_NAMES) or field.type == TIME
        ]

    @property
    def properties(self) -> dict[str, str]:
        """As Delta keeps them: what the table is, by what its rows are told apart, and sought."""
        return {
            "comment": self.summary,
            "warren.key": ", ".join(self.key),
            "delta.dataSkippingStatsColumns": ",".join(f"`{name}`" for name in self.sought),
        }

    def conform(self, frame: DataFrame) -> DataFrame:
        """The table's columns of a frame that has them all, in order and type."""
        return frame.select(*(F.col(f.name).cast(f.type).alias(f.name) for f in self.fields))
