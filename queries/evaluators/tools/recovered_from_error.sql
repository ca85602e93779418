-- /// evaluator
-- id = "recovered_from_error"
-- title = "Whether the agent got over the errors of its tools"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
--
-- [params.same_tool]
-- type = "BOOLEAN"
-- default = true
-- doc = "The tool that failed must work in a later call; false: a later call of any tool that works is enough."
-- ///
--
-- An error is a tool call that failed, or one that was refused before it ran: for its arguments, or because there is no such
-- tool. A tool that does not exist can only be got over by another one that works. The call that makes it good must begin
-- after the error ended and must not stem from the same message of the model. 1: every error was made good and the run itself
-- did not end in an error. NULL: no error was met, or the run is not finished.
with events as (
    select
        run_id,
        case when $same_tool then tool_name else '' end as tool,
        llm_call_id,
        epoch_ns(started_at) as began,
        epoch_ns(started_at) + coalesce(floor(duration_s * 1e9)::bigint, 0) as ended,
        seq,
        status = 'error' as is_error
    from tool_calls
    where is_work(is_handoff, is_agent_tool)
    union all
    select
        run_id,
        case when $same_tool and outcome <> 'unknown_tool' then tool_name else '' end,
        llm_call_id,
        epoch_ns(started_at),
        epoch_ns(started_at),
        null,
        true
    from tool_requests
    where outcome in ('invalid_arguments', 'unknown_tool') and not coalesce(is_handoff, false)
),
failed as (
    select run_id, tool, max(ended) as ended, max(seq) as seq, arg_max(llm_call_id, (ended, seq)) as llm_call_id, count(*) as n
    from events
    where is_error
    group by run_id, tool
),
worked as (
    select run_id, tool, max(began) as began, max(seq) as seq, arg_max(llm_call_id, (began, seq)) as llm_call_id
    from events
    where not is_error
    group by run_id, tool
    union all
    -- Any tool that works makes good one that does not exist.
    select run_id, '', max(began), max(seq), arg_max(llm_call_id, (began, seq))
    from events
    where not is_error and $same_tool
    group by run_id
),
compared as (
    select
        failed.run_id,
        failed.tool,
        failed.n,
        -- Calls that only messages show have no time, and an order.
        coalesce(worked.began >= failed.ended, worked.seq > failed.seq, false)
            and coalesce(worked.llm_call_id <> failed.llm_call_id, true) as is_made_good
    from failed
    left join worked using (run_id, tool)
),
judged as (
    select
        run_id,
        sum(n)::bigint as errors,
        bool_and(is_made_good) as is_made_good,
        list(if(tool <> '', tool, if($same_tool, 'a tool that does not exist', 'no tool worked later')) order by tool)
            filter (where not is_made_good) as not_made_good
    from compared
    group by run_id
)
select
    runs.run_id,
    case
        when judged.run_id is null or runs.status = 'running' then null
        else (judged.is_made_good and coalesce(runs.status, 'ok') <> 'error')::integer::double
    end as score_value,
    case
        when judged.run_id is null then 'no_tool_errors'
        when runs.status = 'running' then 'not_finished'
    end as not_applicable_reason,
    case
        when judged.run_id is null or runs.status = 'running' then null
        when not judged.is_made_good
            then format('{}; not made good: {}.', things(judged.errors, 'tool error'), name_list(judged.not_made_good))
        when runs.status = 'error'
            then format('{}, made good, but the run ended in an error.', things(judged.errors, 'tool error'))
        else if(judged.errors = 1, '1 tool error, made good by a later call.',
            format('{} tool errors, all made good by a later call.', judged.errors))
    end as explanation
from runs
left join judged using (run_id);
