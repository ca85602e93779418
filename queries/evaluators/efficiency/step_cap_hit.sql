-- /// evaluator
-- id = "step_cap_hit"
-- title = "Whether the run used up its step budget"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
-- needs = ["case"]
--
-- [params.step_cap]
-- type = "BIGINT"
-- unit = "count"
-- default = 6
-- doc = "Step budget of cases that have none."
-- ///
--
-- A run at or above the cap counts, finished or not: it had no step left. Steps are those of `steps`, LLM calls and tool calls
-- that ran. A run that its framework stopped at a limit of its own counts too. NULL: the run is no attempt at a case; no budget
-- is known of it.
with judged as (
    select
        runs.run_id,
        coalesce(runs.llm_calls, 0) + coalesce(runs.tool_calls, 0) as steps,
        coalesce(cases.step_cap, $step_cap) as cap,
        runs.status = 'truncated' and regexp_matches(concat_ws(' ', runs.error_type, runs.error_message),
            '(?i)max.?turns|recursion.?(limit|error)|usage.?limit|calls.?limit|max.?(steps|iterations)') as is_stopped,
        cases.run_id is null as is_without_case
    from runs
    left join cases using (run_id)
)
select
    run_id,
    case when not is_without_case then (steps >= cap or coalesce(is_stopped, false))::integer::double end as score_value,
    case when is_without_case then 'no_case' end as not_applicable_reason,
    case
        when is_without_case then null
        when is_stopped and steps < cap then format('Stopped by the framework after {}.', things(steps, 'step'))
        else format('{} of {}.', steps, things(cap, 'step'))
    end as explanation
from judged;
