"""Delta tables read without a JVM: Delta's log by delta-rs, the Parquet files by DuckDB.

A lake by URL (`s3://`, `abfss://`) is read by delta-rs as a whole, days and columns that are asked
for alone, as DuckDB would need an extension for it.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError, TableNotFoundError

from warren.errors import WarrenError
from warren.history.delta_log import damaged_commit, emptied_commits, is_half_made
from warren.lake_path import local_path

_Wanted = tuple[str, Collection[date] | None, Mapping[str, str], str | None]
_SPARKS_SCHEMES = {"s3a": "s3", "s3n": "s3"}


class LakeUnreadable(WarrenError):
    """The archive's tables cannot be read.

    Operator: the text says which and why; `archiver.path` names the lake.
    """


class LakeTables:
    """A lake's tables, asked in SQL. Not for several threads at once.

    Times come as TIMESTAMP WITH TIME ZONE, in UTC.
    """

    def __init__(self, path: str, options: Mapping[str, str] | None = None) -> None:
        """`options`: delta-rs's, for a lake by URL."""
        folder = local_path(path)
        scheme, _, rest = path.partition("://")
        self._root = str(folder or f"{_SPARKS_SCHEMES.get(scheme, scheme)}://{rest}")
        self._is_url = folder is None
        self._options = dict(options or {})
        self._tables: dict[str, DeltaTable] = {}
        self._kinds: dict[str, str] = {}
        self._views: dict[str, tuple[_Wanted, list[str]]] = {}
        """Of each what was asked for, and the files that have it."""
        self._damages: list[str] | None = None
        self._left_out: set[str] = set()
        """Tables, and files of rows, that cannot be read."""
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def tolerate(self) -> list[str]:
        """Pass over what cannot be read from now on: a sentence for each is in the list then."""
        self._damages = []
        return self._damages

    def exists(self, table: str) -> bool:
        """Whether there is such a table: `silver/group_minutes`."""
        return self._open(table) is not None

    def days(self, table: str) -> list[date]:
        """Those of which a table may have rows, the newest first. Raises LakeUnreadable."""
        delta = self._open(table)
        try:
            found = delta.partitions() if delta is not None else []
        except DeltaError as problem:
            raise LakeUnreadable(f"{self._root}/{table}: {_in_a_line(problem)}") from problem
        days = {day for each in found if (day := each.get("date")) is not None}
        return sorted(map(date.fromisoformat, days), reverse=True)

    def view(
        self,
        name: str,
        table: str,
        days: Collection[date] | None,
        columns: Mapping[str, str],
        where: str | None = None,
    ) -> None:
        """Makes `name` the rows of a table for queries: those of some days, None: all; `columns`
        with their types in DuckDB's words. A table that is not there has no rows; a column that is
        not, as in files of an earlier Warren, has nulls.

        `where`: a condition on any column that both DuckDB and DataFusion understand. A lake by URL
        is read at once: what is not asked for then takes no memory.

        Raises LakeUnreadable.
        """
        delta = self._open(table)
        chosen = None if days is None else _of_days(days)
        files: list[str] = []
        try:
            if delta is not None and chosen != "":
                # delta-rs quotes what is no letter in a path.
                found = map(unquote, delta.file_uris(file_pruning_predicate=chosen))
                files = [file for file in found if file not in self._left_out]
            self._views[name] = ((table, days, columns, where), files)
            if not files or delta is None:
                typed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
                self._replace(name, "TABLE")
                self._database.execute(f'CREATE TABLE "{name}" ({typed})')
            elif self._is_url:
                asked = " AND ".join(f"({each})" for each in (chosen, where) if each)
                condition = f" WHERE {asked}" if asked else ""
                there = {field.name for field in delta.schema().fields}
                wanted = ", ".join(f'"{column}"' for column in columns if column in there)
                reader = (
                    QueryBuilder()
                    .register("lake_table", delta)
                    .execute(f"SELECT {wanted} FROM lake_table{condition}")
                )
                self._replace(name, "TABLE")
                _with_all(self._database.from_arrow(reader), columns).create(name)
            else:
                self._replace(name, "VIEW")
                rows = self._database.read_parquet(
                    files, hive_partitioning=True, union_by_name=True
                )
                _with_all(rows.filter(where) if where else rows, columns).create_view(name)
        except (DeltaError, duckdb.Error) as problem:
            if not self._leave_out(table, files):
                self._lose(table, problem)
            self.view(name, table, days, columns, where)

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Rows of a query, by columns' names. Raises LakeUnreadable."""
        try:
            found = self._database.execute(query, values)
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        except duckdb.Error as problem:
            if not any(self._leave_out(of[0], files) for of, files in self._views.values()):
                raise LakeUnreadable(f"{self._root}: {_in_a_line(problem)}") from problem
        for name, (wanted, _) in [*self._views.items()]:
            self.view(name, *wanted)
        return self.rows(query, values)

    def _leave_out(self, table: str, files: Collection[str]) -> bool:
        """Whether some of these files cannot be read, and are passed over from now on."""
        if self._damages is None or self._is_url:
            return False
        found = [each for each in files if each not in self._left_out and not self._is_whole(each)]
        self._damages += (
            f"{table}: {Path(each).name} cannot be read: its rows are missing." for each in found
        )
        self._left_out.update(found)
        return bool(found)

    def _is_whole(self, file: str) -> bool:
        """Whether all of a file of rows can be read."""
        try:
            self._database.execute("SELECT max(hash(f)) FROM read_parquet($1) f", [file]).fetchall()
        except duckdb.Error:
            return False
        return True

    def _lose(self, table: str, problem: Exception) -> None:
        """Pass over a table from now on. Raises LakeUnreadable unless that is tolerated."""
        if self._damages is None:
            raise LakeUnreadable(f"{self._root}/{table}: {_in_a_line(problem)}") from problem
        commit = None if self._is_url else damaged_commit(Path(self._root, table))
        said = f"{commit} cannot be read" if commit else _in_a_line(problem)
        self._damages.append(f"{table}: {said}: the table is missing.")
        self._left_out.add(table)

    def _replace(self, name: str, kind: str) -> None:
        if (before := self._kinds.get(name)) is not None:
            self._database.execute(f'DROP {before} IF EXISTS "{name}"')
        self._kinds[name] = kind

    def _open(self, table: str) -> DeltaTable | None:
        """As it is now: what was written since it was opened is read."""
        path, known = f"{self._root}/{table}", self._tables.get(table)
        if table in self._left_out:
            return None
        try:
            if known is not None:
                known.update_incremental()
                return known
            self._tables[table] = DeltaTable(path, storage_options=self._options)
            # Delta passes over a commit without a byte: what it wrote is not there.
            if self._damages is not None and not self._is_url:
                self._damages += (
                    f"{table}: {name} is empty: what it wrote is missing."
                    for name in emptied_commits(Path(self._root, table))
                )
            return self._tables[table]
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as problem:
            if not self._is_url and is_half_made(Path(self._root, table)):
                return None
            self._lose(table, problem)
            return None


def typed(**names: str) -> dict[str, str]:
    """Columns by their types: `typed(VARCHAR="cluster group", BIGINT="position")`."""
    return {name: kind for kind, listed in names.items() for name in listed.split()}


def text(value: str) -> str:
    """As a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def moment(milliseconds: int) -> str:
    """Unix milliseconds as a literal of SQL."""
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"TIMESTAMP '{at:%Y-%m-%d %H:%M:%S.%f}'"


def _with_all(rows: duckdb.DuckDBPyRelation, columns: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
    """These columns alone; those that the rows do not have are null."""
    there = set(rows.columns)
    nothing = duckdb.ConstantExpression(None)
    return rows.select(
        *(
            duckdb.ColumnExpression(name)
            if name in there
            else nothing.cast(duckdb.type(kind)).alias(name)
            for name, kind in columns.items()
        )
    )


def _of_days(days: Collection[date]) -> str:
    """A condition; "" for none. Days that follow each other are one part of it, as a stack of
    delta-rs's grows with the parts: a century of days has ended the process."""
    runs: list[tuple[date, date]] = []
    for day in sorted(days):
        if runs and (day - runs[-1][1]).days <= 1:
            runs[-1] = (runs[-1][0], day)
        else:
            runs.append((day, day))
    return " OR ".join(f"(date >= '{first}' AND date <= '{last}')" for first, last in runs)


def _in_a_line(problem: Exception) -> str:
    """Without the stack that delta-rs has below some of its messages."""
    first, *_ = str(problem).strip().splitlines() or [repr(problem)]
    return first
