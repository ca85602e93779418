-- Which case each run is an attempt at: by case id, else by the same input text, white space and capitals aside.
-- Of several, the case of the suite that was asked for wins, then that of the version the run names, then the newest.
create or replace temp table run_cases as
with known as (
    select
        rowid as case_row,
        suite_name,
        suite_version,
        case_id,
        lower(trim(regexp_replace(input, '\s+', ' ', 'g'))) as text,
        stored_at
    from spanscore.main.cases
),
asked as (
    select
        run_id,
        suite_name,
        suite_version,
        case_id,
        lower(trim(regexp_replace(question, '\s+', ' ', 'g'))) as text
    from spanscore.main.runs
    where exists (select 1 from known)
),
matches as (
    select asked.run_id, known.*, asked.suite_version as run_version, 1 as rank
    from asked
    inner join known on known.case_id = asked.case_id
    where coalesce(asked.suite_name, known.suite_name) = known.suite_name
    union all
    select asked.run_id, known.*, asked.suite_version, 2
    from asked
    inner join known on known.text = asked.text
    where known.text <> ''
)
select run_id, case_row, suite_name
from matches
qualify row_number() over (
    partition by run_id
    order by
        suite_name is not distinct from $suite desc,
        rank,
        suite_version is not distinct from run_version desc,
        stored_at desc nulls last,
        suite_name,
        suite_version desc nulls last,
        case_id
) = 1;
