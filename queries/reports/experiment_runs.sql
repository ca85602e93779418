-- The runs of one experiment, in the order of cases and trials: those of `$experiment` (NULL: of none) and of `$variant`
-- (NULL: of any).
-- `is_success` is the score of task_completed where the run has one, else whether it ended without an error.
select
    runs.run_id,
    coalesce(cases.case_id, runs.case_id) as case_id,
    cases.category,
    cases.step_cap,
    runs.status,
    coalesce(completed.score_value = 1, runs.status = 'ok', false) as is_success,
    completed.score_value is not null as is_checked,
    runs.duration_s,
    runs.cost_usd,
    runs.unpriced_llm_calls,
    runs.llm_calls,
    runs.tool_calls
from runs
left join cases using (run_id)
left join spanscore.main.scores as completed
    on completed.run_id = runs.run_id and completed.evaluator = 'task_completed' and completed.grain = 'run'
where coalesce(cases.case_id, runs.case_id) is not null
    and runs.experiment_id is not distinct from $experiment
    and ($variant::varchar is null or runs.variant = $variant)
order by case_id, runs.trial, runs.started_at, runs.run_id
