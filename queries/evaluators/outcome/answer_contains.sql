-- /// evaluator
-- id = "answer_contains"
-- title = "Share of the required phrases that stand in the answer"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case", "content"]
-- ///
--
-- Counts the checks of kind `contains`: phrases that the answer must hold.
-- How a check is read stands in `queries/macros/checks.sql`; checks that are wrong themselves do not count.
-- Without an answer none of them passes: failed runs count.
-- NULL: no case; no such check in it, or only wrong ones; the answer was not captured; the run is not finished.
with listed as (
    select run_id, unnest(json_items(checks)) as ch, unnest(range(1, len(json_items(checks)) + 1)) as position
    from cases
),
tried as materialized (
    select listed.run_id, listed.ch, listed.position, phrase_check(ch, runs.final_answer) as passes
    from listed
    inner join runs using (run_id)
    where ch ->> '$.kind' = 'contains' and check_problem(ch) is null
),
checked as (
    select
        run_id,
        count(*) as n,
        count(*) filter (where passes) as n_passed,
        list(ch order by position) filter (where not passes) as failed
    from tried
    group by run_id
),
judged as (
    select
        runs.run_id,
        checked.n,
        checked.n_passed,
        checked.failed,
        case
            when cases.run_id is null then 'no_case'
            when checked.run_id is null then 'no_expectation'
            when runs.final_answer is null and not coalesce(runs.has_content, true) then 'content_not_captured'
            when runs.final_answer is null and runs.status = 'running' then 'not_finished'
        end as reason
    from runs
    left join cases using (run_id)
    left join checked using (run_id)
)
select
    run_id,
    case when reason is null then safe_ratio(n_passed, n) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} passed.', n_passed, things(n, 'check')) end as explanation,
    case when reason is null and n_passed < n then to_json({'failed': failed}) end as evidence
from judged;
