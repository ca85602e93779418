"""SQL that gives another score each time is found."""

from __future__ import annotations

import duckdb
import pytest

from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.evaluate.steadiness import UNSTEADY_FUNCTIONS, unsteady

# Functions that DuckDB does not call consistent for other reasons: they follow settings that are fixed here (the time
# zone, the database), do something, or are table functions.
_FIXED_HERE = {
    *(
        "+",
        "-",
        "age",
        "date_diff",
        "date_part",
        "date_sub",
        "date_trunc",
        "datediff",
        "datepart",
        "datesub",
        "datetrunc",
    ),
    *(
        "century",
        "day",
        "dayname",
        "dayofmonth",
        "dayofweek",
        "dayofyear",
        "decade",
        "era",
        "hour",
        "isodow",
        "isoyear",
    ),
    *("julian", "last_day", "make_timestamptz", "microsecond", "millennium", "millisecond", "minute", "month"),
    *("monthname", "quarter", "second", "strftime", "time_bucket", "timezone", "timezone_hour", "timezone_minute"),
    *("week", "weekday", "weekofyear", "year", "yearweek", "current_database", "current_query", "current_schema"),
    *("current_schemas", "current_setting", "getvariable", "in_search_path", "error", "sleep_ms", "write_log"),
    *("stats", "vector_type", "generate_series", "range", "current_date", "current_role", "current_user", "user"),
}


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("select random()", ["random()"]),
        ("select Now ( ), now()", ["Now()"]),
        ("select current_date - started_at from runs", ["current_date"]),
        ("select CURRENT_TIMESTAMP", ["CURRENT_TIMESTAMP"]),
        ("select age(started_at) from runs", ["age(started_at)"]),
        ("select * from runs using sample 10", ["using sample"]),
        ("select * from runs tablesample reservoir(10)", ["tablesample"]),
        ("select uuid(), random()", ["uuid()", "random()"]),
        ("select age(ended_at, started_at) from runs", []),
        ("select * from runs using sample reservoir(10 rows) repeatable (7)", []),
        ("select 'now()' as text, started_at as today -- random()", []),
        ('select "random", now from runs', []),
    ],
)
def test_what_gives_another_value_each_time_is_found(sql: str, found: list[str]) -> None:
    assert list(unsteady(sql)) == found


def test_every_such_function_of_duckdb_is_known() -> None:
    with duckdb.connect() as connection:
        names = connection.execute(
            "select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'"
        ).fetchall()

    assert {name for (name,) in names} - set(UNSTEADY_FUNCTIONS) - _FIXED_HERE == set()


def test_no_shipped_evaluator_does() -> None:
    assert [one.id for one in shipped_catalogue().evaluators if list(unsteady(one.sql))] == []
