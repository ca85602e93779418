-- Which case each run is an attempt at: the case it names, else the one that asks the same, white space, capitals and the
-- ways to write a character aside. Only cases of the suite that the run names or, where it names none, that was asked for;
-- of the version that the run names, else of the one stored last. Where that leaves several cases, none is taken:
-- case_row is NULL then, and `candidates` has more than one name.
create or replace temp table run_cases as
with versions as (
    select
        suite_name,
        suite_version,
        row_number() over (
            partition by suite_name
            order by max(stored_at) desc nulls last, suite_version desc nulls last
        ) = 1 as is_newest
    from spanscore.main.cases
    group by suite_name, suite_version
),
known as (
    select
        cases.rowid as case_row,
        cases.suite_name,
        cases.suite_version,
        cases.case_id,
        lower(nfc_normalize(trim(regexp_replace(cases.input, '[\s\pZ]+', ' ', 'g')))) as text,
        versions.is_newest
    from spanscore.main.cases as cases
    inner join versions
        on versions.suite_name = cases.suite_name
        and versions.suite_version is not distinct from cases.suite_version
),
asked as (
    select
        runs.run_id,
        coalesce(runs.suite_name, $suite) as suite_name,
        versions.suite_version,
        versions.suite_name is not null as has_version,
        runs.case_id,
        lower(nfc_normalize(trim(regexp_replace(runs.question, '[\s\pZ]+', ' ', 'g')))) as text
    from spanscore.main.runs as runs
    left join versions
        on versions.suite_name = runs.suite_name
        and versions.suite_version = runs.suite_version
    where exists (select 1 from versions)
),
candidates as (
    select asked.run_id, known.case_row, known.suite_name, known.case_id, 'case_id' as matched_by
    from asked
    inner join known on known.case_id = asked.case_id
    where known.suite_name = coalesce(asked.suite_name, known.suite_name)
        and case when asked.has_version then known.suite_version = asked.suite_version else known.is_newest end
    union all
    select asked.run_id, known.case_row, known.suite_name, known.case_id, 'input'
    from asked
    inner join known on known.text = asked.text
    where known.suite_name = coalesce(asked.suite_name, known.suite_name)
        and case when asked.has_version then known.suite_version = asked.suite_version else known.is_newest end
        and known.text <> ''
),
-- A case that has the id and asks the same has both words for it.
evidence as (
    select
        run_id,
        case_row,
        suite_name,
        case_id,
        case when bool_or(matched_by = 'case_id') then 'case_id' else 'input' end as matched_by,
        sum(case matched_by when 'case_id' then 2 else 1 end) as strength
    from candidates
    group by run_id, case_row, suite_name, case_id
),
best as (
    select *
    from evidence
    qualify strength = max(strength) over (partition by run_id)
)
select
    run_id,
    case when count(*) = 1 then min(case_row) end as case_row,
    case when count(distinct suite_name) = 1 then min(suite_name) end as suite_name,
    min(matched_by) as matched_by,
    list(suite_name || '/' || case_id order by suite_name, case_id) as candidates
from best
group by run_id;
