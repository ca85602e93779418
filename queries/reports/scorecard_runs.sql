-- The runs of a report, one row each: what they are grouped by, how they ended, how long they took and what they cost.
-- `cluster` names what does not repeat independently: attempts at one case, turns of one session; else the run itself.
-- `is_success` is the score of task_completed where the run has one, else whether it ended without an error.
select
    runs.run_id,
    case
        when cases.case_id is not null then concat_ws(chr(31), 'case', cases.suite_name, cases.case_id)
        when runs.case_id is not null then concat_ws(chr(31), 'case', coalesce(runs.suite_name, ''), runs.case_id)
        when runs.session_id is not null then concat_ws(chr(31), 'session', runs.session_id)
        else concat_ws(chr(31), 'run', runs.run_id)
    end as cluster,
    cases.category,
    runs.variant,
    strftime(runs.started_at, '%Y-%m-%d') as day,
    runs.status,
    coalesce(completed.score_value = 1, runs.status = 'ok') as is_success,
    completed.score_value is not null as is_checked,
    runs.duration_s,
    runs.cost_usd,
    runs.cost_reported_usd,
    runs.unpriced_llm_calls,
    unpriced.failed as unpriced_failed_calls,
    runs.llm_calls,
    runs.tool_calls,
    cases.step_cap
from runs
left join cases using (run_id)
left join (
    select run_id, count(*) as failed from llm_calls where cost_usd is null and status = 'error' group by run_id
) as unpriced using (run_id)
left join spanscore.main.scores as completed
    on completed.run_id = runs.run_id and completed.evaluator = 'task_completed' and completed.grain = 'run'
order by runs.started_at, runs.run_id
