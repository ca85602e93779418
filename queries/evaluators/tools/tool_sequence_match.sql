-- /// evaluator
-- id = "tool_sequence_match"
-- title = "Whether the tools were called in the expected order"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["case"]
--
-- [params.mode]
-- type = "VARCHAR"
-- default = "exact"
-- doc = "exact, in_order or any_order."
--
-- [params.most_steps]
-- type = "BIGINT"
-- unit = "count"
-- default = 200
-- doc = "Cases that expect more steps are not scored: the work grows with the square of their number."
-- ///
--
-- The expected order is that of the expected steps; where a case has none, that of its expected calls. Modes: exact = these
-- calls and no others; in_order = these in this order, others may stand between; any_order = these, whatever else is called.
-- Order is judged by the start of calls. Calls that one message of a model asked for and calls that ran at the same time have no
-- order among them: any order of theirs will do. Chains of calls that overlap one after the other are taken as one such group.
-- A transfer or an agent called as a tool counts only where the case names it. A call that was refused or never ran does not.
-- NULL: the run is no attempt at a case, the case expects nothing of tools, or a model asked for tools and the trace shows none.
with wanted as (
    select run_id, coalesce(expected_steps, json_extract_string(expected_calls, '$[*].tool')) as steps
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
        coalesce(len(made.tools), 0) as n_made,
        case
            when made.run_id is null then 0
            when $mode = 'any_order' then shared_count(wanted.steps, made.tools)
            else steps_in_order(wanted.steps, made.batches)
        end as met,
        coalesce(
            no_tools_reason(wanted.run_id is not null, wanted.steps is not null, unseen.run_id is not null),
            case when len(wanted.steps) > $most_steps then 'too_many_steps' end,
            case when $mode not in ('exact', 'in_order', 'any_order') then 'unknown_mode' end
        ) as reason
    from runs
    left join wanted using (run_id)
    left join made on made.run_id = runs.run_id and len(wanted.steps) <= $most_steps
    left join unseen on unseen.run_id = runs.run_id
)
select
    run_id,
    case when reason is null then (met = len(steps) and ($mode <> 'exact' or n_made = len(steps)))::integer::double end
        as score_value,
    $mode as score_label,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} were made{}; {} in all.', met,
        things(len(steps), 'expected call'), case when $mode = 'any_order' then '' else ' in order' end, things(n_made, 'call'))
            end as explanation
from compared;
