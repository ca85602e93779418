-- /// evaluator
-- id = "abstained"
-- title = "Whether a question that has no answer was declined"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["case", "content"]
-- ///
--
-- Counts cases that are marked unanswerable, and those of the categories `unanswerable` and `nonsense`. Where the case lists
-- phrases (checks of kind `contains` or `abstains`), an answer declines when all these checks pass; else when it says in one of
-- the usual ways of English that it does not know or cannot tell (macro `declines`).
-- A run that gave no answer has not declined.
-- NULL: no case, a case that has an answer, an answer that was not captured, a run that is not finished. Not to be trusted for
-- answers that decline in words and then give a figure all the same (`numbers_grounded`), nor for other languages than English
-- where the case lists no phrases.
with checked as (
    select runs.run_id, bool_and(coalesce(phrase_check(ch, runs.final_answer), abstaining_check(ch, runs.final_answer))) as passes
    from (select run_id, unnest(json_items(checks)) as ch from cases)
    inner join runs using (run_id)
    where ch ->> '$.kind' in ('contains', 'abstains') and check_problem(ch) is null
    group by runs.run_id
),
judged as (
    select
        runs.run_id,
        coalesce(checked.passes, declines(runs.final_answer), false) as is_declined,
        checked.passes is not null as has_phrases,
        case
            when cases.run_id is null then 'no_case'
            when not coalesce(cases.unanswerable, false)
                and coalesce(lower(cases.category), '') not in ('unanswerable', 'nonsense') then 'answerable'
            when runs.final_answer is null and not coalesce(runs.has_content, true) then 'content_not_captured'
            when runs.final_answer is null and runs.status = 'running' then 'not_finished'
        end as reason
    from runs
    left join cases using (run_id)
    left join checked using (run_id)
)
select
    run_id,
    case when reason is null then is_declined::integer::double end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('The answer {}{}.', if(is_declined, 'declines', 'does not decline'),
        case when has_phrases then ', by the phrases of the case' else '' end) end as explanation
from judged;
