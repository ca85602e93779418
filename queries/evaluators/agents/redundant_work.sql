-- /// evaluator
-- id = "redundant_work"
-- title = "Tool calls that another agent had made before, with the same arguments"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- needs = ["content"]
-- ///
--
-- A call is redundant when an agent of another name had called the same tool with the same arguments (as JSON: order of keys
-- aside, 1 = 1.0) earlier in the run, and that call had not failed. Repeats by one agent are `repeated_tool_calls`.
-- NULL: fewer than two agents called tools; or two called the same tool and the trace has the arguments of no call.
with work as (
    select run_id, agent_name, tool_name, seq, span_id, arguments, coalesce(status = 'error', false) as is_failed
    from tool_calls
    where is_work(is_handoff, is_agent_tool) and agent_name is not null
),
per_tool as (
    select run_id, tool_name, min(agent_name) <> max(agent_name) as is_shared, min(agent_name) as first_name,
        max(agent_name) as last_name, count(arguments) as captured
    from work
    group by run_id, tool_name
),
counted as (
    select run_id, min(first_name) <> max(last_name) as has_two_agents, bool_or(is_shared) as has_shared_tool,
        sum(captured) as captured
    from per_tool
    group by run_id
),
-- Only calls of a tool that two agents used need a look at their arguments.
keyed as (
    select work.*, json_canonical(arguments) as arguments_key
    from work
    where (run_id, tool_name) in (select (run_id, tool_name) from per_tool where is_shared)
),
first_by_agent as (
    select run_id, tool_name, arguments_key, agent_name, min(seq) as seq
    from keyed
    where not is_failed
    group by run_id, tool_name, arguments_key, agent_name
),
-- Whoever calls after the first success of another agent repeats its work: the two earliest agents are enough to tell.
earliest as (
    select run_id, tool_name, arguments_key, min(seq) as seq, arg_min(agent_name, seq) as agent_name, min(seq, 2)[2] as second_seq
    from first_by_agent
    group by run_id, tool_name, arguments_key
),
found as (
    select
        keyed.run_id,
        count(*) as n,
        list(distinct keyed.tool_name order by keyed.tool_name) as tools,
        list(distinct keyed.agent_name order by keyed.agent_name) as agents,
        list(keyed.span_id order by keyed.seq) filter (where keyed.span_id is not null) as spans
    from keyed
    inner join earliest using (run_id, tool_name, arguments_key)
    where keyed.seq > if(keyed.agent_name = earliest.agent_name, earliest.second_seq, earliest.seq)
    group by keyed.run_id
),
judged as (
    select
        runs.run_id,
        coalesce(found.n, 0) as n,
        found.* exclude (run_id, n),
        case
            when counted.run_id is null and runs.run_id in (select run_id from tool_calls where is_work(is_handoff, is_agent_tool))
                then 'no_agent_names'
            when counted.run_id is null then no_tool_call_reason(runs.run_id)
            when not counted.has_two_agents then 'tools_of_one_agent'
            when counted.has_shared_tool and counted.captured = 0 then 'content_not_captured'
        end as reason
    from runs
    left join counted using (run_id)
    left join found using (run_id)
)
select
    run_id,
    case when reason is null then n::double end as score_value,
    reason as not_applicable_reason,
    case
        when reason is null and n > 0
            then format('{} by {} had been made by another agent: {}.', things(n, 'tool call'), name_list(agents),
            name_list(tools))
        when reason is null then 'No agent repeated a tool call of another.'
    end as explanation,
    case when reason is null and n > 0 then to_json({'tools': tools, 'agents': agents, 'spans': spans}) end as evidence
from judged;
