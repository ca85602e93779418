insert into cases by name
select
    given_cases.* replace (
        expected_calls::json as expected_calls,
        checks::json as checks,
        defaults::json as defaults
    ),
    $suite_name as suite_name,
    $suite_version::varchar as suite_version,
    current_localtimestamp() as stored_at
from given_cases;
