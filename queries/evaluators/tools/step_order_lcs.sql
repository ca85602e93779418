-- /// evaluator
-- id = "step_order_lcs"
-- title = "Share of the expected steps that were taken in the expected order"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case"]
--
-- [params.most_steps]
-- type = "BIGINT"
-- unit = "count"
-- default = 200
-- doc = "Cases that expect more steps are not scored: the work grows with the square of their number."
-- ///
--
-- Longest common subsequence of the expected steps and the tools in the order in which they were called, divided by the number of
-- expected steps: steps in between do no harm, a step out of order counts as missing.
-- Order is judged by the start of calls. Calls that one message of a model asked for and calls that ran at the same time have no
-- order among them: any order of theirs will do. Chains of calls that overlap one after the other are taken as one such group.
-- A transfer or an agent called as a tool counts only where the case names it. A call that was refused or never ran does not.
-- NULL: the run is no attempt at a case, the case expects nothing of tools, or a model asked for tools and the trace shows none.
with wanted as (
    select run_id, expected_steps as steps
    from cases
),
timed as (
    select
        tool_calls.run_id,
        tool_calls.seq,
        tool_calls.tool_name,
        -- Calls that one message asked for, or that ran at the same time, have no order among them.
        coalesce(llm_call_id = lag(llm_call_id) over earlier, false)
            or coalesce(epoch_ns(started_at) < max(epoch_ns(started_at) + floor(duration_s * 1e9)::bigint) over until_now, false)
            as is_together
    from tool_calls
    inner join wanted using (run_id)
    where is_work(is_handoff, is_agent_tool) or list_contains(wanted.steps, tool_name)
    window
        earlier as (partition by tool_calls.run_id order by seq),
        until_now as (partition by tool_calls.run_id order by seq rows between unbounded preceding and 1 preceding)
),
numbered as (
    select run_id, tool_name, count(*) filter (where not is_together) over (partition by run_id order by seq) as batch
    from timed
),
batched as (
    select run_id, batch, list(tool_name) as tools
    from numbered
    group by run_id, batch
),
made as (
    select run_id, list(tools order by batch) as batches, flatten(list(tools order by batch)) as tools
    from batched
    group by run_id
),
unseen as (
    select run_id from llm_calls where finish_reason = 'tool_calls'
    except select run_id from tool_calls
    except select run_id from tool_requests
),
compared as (
    select
        runs.run_id,
        wanted.steps,
        case when made.run_id is null then 0 else steps_in_order(wanted.steps, made.batches) end as in_order,
        coalesce(
            no_tools_reason(wanted.run_id is not null, len(wanted.steps) > 0, unseen.run_id is not null),
            case when len(wanted.steps) > $most_steps then 'too_many_steps' end
        ) as reason
    from runs
    left join wanted using (run_id)
    left join made on made.run_id = runs.run_id and len(wanted.steps) <= $most_steps
    left join unseen on unseen.run_id = runs.run_id
)
select
    run_id,
    case when reason is null then safe_ratio(in_order, len(steps)) end as score_value,
    reason as not_applicable_reason,
    case when reason is null
        then format('{} of {} were taken in order.', in_order, things(len(steps), 'expected step')) end as explanation
from compared;
