"""Hours and days, UTC: what gold tables have a row for."""

from enum import Enum

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention


class Unit(Enum):
    """The value is its length in milliseconds."""

    HOUR = 3_600_000
    DAY = 86_400_000

    @property
    def ms(self) -> int:
        return self.value

    @property
    def column(self) -> str:
        """Which has the beginning."""
        return self.name.lower()

    @property
    def suffix(self) -> str:
        """Of tables' names."""
        return f"{self.column}s"

    def beginning(self, at: Column) -> Column:
        """Of the one that a moment is in."""
        return F.date_trunc(self.column, at)
