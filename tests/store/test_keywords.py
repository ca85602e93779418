import pytest

from spanscore.store.keywords import quote_keyword_columns


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "select at::varchar as t from handoffs order by at, seq",
            'select "at"::varchar as t from handoffs order by "at", seq',
        ),
        ("select h.at from handoffs as h where AT > now()", 'select h."at" from handoffs as h where "AT" > now()'),
        ("select seq as at from handoffs", 'select seq as "at" from handoffs'),
        ("select 'at' -- at\n, \"at\" /* at */", "select 'at' -- at\n, \"at\" /* at */"),
        ("select started_at, attr from runs", "select started_at, attr from runs"),
        ("select started_at at time zone 'UTC' from runs", "select started_at at time zone 'UTC' from runs"),
        ("select * from t at (version => 3)", "select * from t at (version => 3)"),
        ("select 'é' as é, at from handoffs", "select 'é' as é, \"at\" from handoffs"),
        (
            "not sql at all (((",
            'not sql "at" all (((',
        ),
    ],
)
def test_at_is_quoted_where_only_a_column_can_stand(sql: str, expected: str) -> None:
    assert quote_keyword_columns(sql) == expected
