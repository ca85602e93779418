-- /// evaluator
-- id = "repeated_tool_calls"
-- title = "Tool calls that the same agent had made before, with the same arguments"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- needs = ["content"]
-- ///
--
-- A call repeats an earlier one of its run when agent, tool and arguments are the same (as JSON: order of keys aside, 1 = 1.0).
-- Repeating a call that failed is a retry and does not count; nor do transfers and agents called as tools. Calls by two
-- agents are `redundant_work`. A tool that is polled, or one whose answer changes, may be called again for good reason.
-- NULL: no tool calls; or a tool was called more than once and the trace has the arguments of no call.
with counted as (
    select run_id, sum(n)::bigint as calls, sum(captured)::bigint as captured, max(n) as most
    from (
        select run_id, count(*) as n, count(arguments) as captured
        from tool_calls
        where is_work(is_handoff, is_agent_tool)
        group by run_id, agent_name, tool_name
    )
    group by run_id
),
-- Only in a run where a tool is called again can anything be repeated: most calls need no look at their arguments.
keyed as (
    select run_id, agent_name, tool_name, seq, span_id, coalesce(status = 'error', false) as is_failed,
        json_canonical(arguments) as arguments_key
    from tool_calls
    where is_work(is_handoff, is_agent_tool) and run_id in (select run_id from counted where most > 1)
),
repeats as (
    select
        run_id, tool_name, span_id, seq,
        lag(is_failed) over (partition by run_id, agent_name, tool_name, arguments_key order by seq) as was_failed
    from keyed
),
found as (
    select
        run_id,
        count(*) as n,
        list(distinct tool_name order by tool_name) as tools,
        list(span_id order by seq) filter (where span_id is not null) as spans
    from repeats
    where not was_failed
    group by run_id
),
judged as (
    select
        runs.run_id,
        coalesce(found.n, 0) as n,
        counted.calls,
        found.tools,
        found.spans,
        case
            when counted.run_id is null then no_tool_call_reason(runs.run_id)
            when counted.captured = 0 and counted.most > 1 then 'content_not_captured'
        end as reason
    from runs
    left join counted using (run_id)
    left join found using (run_id)
)
select
    run_id,
    case when reason is null then n::double end as score_value,
    reason as not_applicable_reason,
    case when reason is null and n > 0
        then format('{} of {} repeat an earlier one: {}.', n, things(calls, 'tool call'), name_list(tools))
        when reason is null then format('None of {} repeats an earlier one.', things(calls, 'tool call')) end as explanation,
    case when reason is null and n > 0 then to_json({'spans': spans, 'tools': tools}) end as evidence
from judged;
