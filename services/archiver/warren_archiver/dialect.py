"""The SQL of tables and views: Spark runs its text in the archiver, DuckDB in reports and tests.

A text uses what both have: names in double quotes, parameters as `:name`, `[]` for an empty list,
`list[*].field` for a field of each of its elements. DuckDB gets macros by the names of Spark's
functions.
"""

import importlib.resources
import re
from collections.abc import Mapping

MACROS = """
CREATE OR REPLACE MACRO array_except(list, other)
  AS list_filter(list, lambda each: NOT list_contains(other, each));
CREATE OR REPLACE MACRO arrays_zip(a, b, c) AS list_zip(a, b, c);
CREATE OR REPLACE MACRO explode(list) AS unnest(list);
CREATE OR REPLACE MACRO max_by(value, place) AS arg_max_null(value, place);
CREATE OR REPLACE MACRO min_by(value, place) AS arg_min_null(value, place);
CREATE OR REPLACE MACRO sequence(first, last, step) AS generate_series(first, last, step);
CREATE OR REPLACE MACRO size(list) AS len(list);
CREATE OR REPLACE MACRO struct(a, b) AS row(a, b),
  (a, b, c, d, e, f) AS row(a, b, c, d, e, f);
CREATE OR REPLACE MACRO timestamp_millis(ms) AS make_timestamptz(ms * 1000);
CREATE OR REPLACE MACRO try_add(a, b) AS try_cast(a::HUGEINT + b AS BIGINT);
CREATE OR REPLACE MACRO try_element_at(list, number) AS list_extract(list, number);
CREATE OR REPLACE MACRO try_sum(value) AS try_cast(sum(value) AS BIGINT);
CREATE OR REPLACE MACRO unix_millis(moment) AS epoch_ms(moment);
CREATE OR REPLACE MACRO unix_seconds(moment) AS epoch_ms(moment) // 1000;
"""
"""For DuckDB, of which the time zone has to be UTC."""
_PARAMETER = re.compile(r":(\w+)")
_OF_EACH = re.compile(r"([\w.]+)\[\*\]\.(\w+)")


_SKETCH = re.compile(r"-- sketches: (\w+) of (\w+)\n")
_SKETCHES = """sized AS (
  SELECT cluster, "group", hour,
    CASE WHEN {value} > 0 THEN CAST(ceil(ln({value}) / :bucket_width - 1e-9) AS INT) ELSE 0 END
      AS bucket
  FROM {rows} WHERE {value} IS NOT NULL
), counted AS (
  SELECT cluster, "group", hour, bucket, count(*) AS "count"
  FROM sized GROUP BY cluster, "group", hour, bucket
), sketches AS (
  SELECT cluster, "group", hour, array_sort(array_agg(struct(bucket, "count"))) AS sketch
  FROM counted GROUP BY cluster, "group", hour
)
"""
"""Of the values of each hour: in which bucket of gold's conventions how many are."""


def sql(layer: str, name: str, values: Mapping[str, float]) -> str:
    """The text that makes a table, with its parameters."""
    file = importlib.resources.files("warren_archiver").joinpath(layer, f"{name}.sql")
    text = file.read_text(encoding="utf-8")
    text = _SKETCH.sub(lambda found: _SKETCHES.format(value=found[1], rows=found[2]), text)
    return _PARAMETER.sub(lambda found: repr(values[found[1]]), text)


def for_spark(text: str) -> str:
    """A text in Spark's words."""
    return text.replace('"', "`").replace("[*]", "").replace("[]", "array()")


def for_duckdb(text: str) -> str:
    """A text in DuckDB's words, which needs `MACROS`."""
    return _OF_EACH.sub(r"list_transform(\1, lambda each: each.\2)", text)
