-- /// evaluator
-- id = "step_efficiency"
-- title = "Fewest steps that solve the task / steps that the run took"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case"]
--
-- [params.min_share]
-- type = "DOUBLE"
-- unit = "ratio"
-- default = 0.7
-- doc = "Share of the checks, by weight, that must pass for the task to be completed."
--
-- [params.min_characters]
-- type = "BIGINT"
-- unit = "count"
-- default = 20
-- doc = "A case without checks is completed by an answer with more characters than this."
-- ///
--
-- Steps are those of `steps`: LLM calls and tool calls that ran. Only completed tasks are scored, completed as `task_completed`
-- has it: a run that gives up at once is not efficient. A run that needs fewer steps than the case knows of has 1.
-- NULL: no case, no optimal number of steps in it, no steps, a task that was not completed, checks that are all wrong themselves.
with asked as (
    select
        runs.run_id, runs.status, runs.final_answer, cases.optimal_steps, json_items(cases.checks) as checks,
        coalesce(runs.llm_calls, 0) + coalesce(runs.tool_calls, 0) as steps
    from runs
    inner join cases using (run_id)
    where cases.optimal_steps is not null
),
made as (
    select run_id, list(distinct tool_name) as tools
    from tool_calls
    where is_work(is_handoff, is_agent_tool) and run_id in (select run_id from asked)
    group by run_id
),
-- Materialized: planning takes half the time, as the checks are not copied into every aggregate.
checked as materialized (
    select
        asked.run_id,
        coalesce(try_cast(ch ->> '$.weight' as double), 1) as weight,
        check_passes(ch, asked.final_answer, coalesce(made.tools, []), asked.steps) as passes
    from (select *, unnest(checks) as ch from asked) as asked
    left join made using (run_id)
    where check_problem(ch) is null
),
shares as (
    select run_id,
        coalesce(safe_ratio(sum(weight) filter (where passes), sum(weight)), 0) as share
    from checked
    group by run_id
),
judged as (
    select
        runs.run_id,
        asked.optimal_steps,
        asked.steps,
        case
            when cases.run_id is null then 'no_case'
            when asked.run_id is null then 'no_expectation'
            when asked.steps = 0 then 'no_steps'
            when asked.status in ('error', 'running') then 'not_completed'
            when shares.run_id is null and len(asked.checks) > 0 then 'invalid_checks'
            when shares.run_id is not null and shares.share < $min_share - 1e-9 then 'not_completed'
            when shares.run_id is null and coalesce(length(trim(asked.final_answer)), 0) <= $min_characters then 'not_completed'
        end as reason
    from runs
    left join cases using (run_id)
    left join asked using (run_id)
    left join shares using (run_id)
)
select
    run_id,
    case when reason is null then least(1, safe_ratio(optimal_steps, steps)) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{}; {} would do.', things(steps, 'step'), optimal_steps) end as explanation
from judged;
