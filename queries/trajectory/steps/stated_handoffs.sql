-- Control passing between agents, in every shape that emitters give it. Sources, the surest first: a span that says so; a
-- transfer tool; an agent that runs inside a tool call or directly under another agent; a delegation whose receiver left no span.
create or replace temp table stated_handoffs as
with names as (
    select distinct run_id, agent_name, name_key(agent_name) as agent_key
    from agent_rows
    where agent_name is not null
),
-- 1. Spans that say "handoff".
from_spans as (
    select
        span_runs.run_id,
        batch_spans.start_ns,
        batch_spans.span_id as handoff_id,
        coalesce(span_facts.handoff_from, case when span_class.convention = 'openinference' then span_facts.tool_arguments end)
            as from_name,
        nullif(coalesce(span_facts.handoff_to,
            case when batch_spans.name like 'handoff to %' then substr(batch_spans.name, 12) end), 'unknown') as to_name,
        span_agents.a as from_a,
        'span' as mechanism,
        'pass_control' as mode,
        1.0 as confidence
    from batch_spans
    inner join span_class using (s)
    inner join span_runs using (s)
    inner join span_facts using (s)
    left join span_agents using (s)
    where span_class.class = 'handoff'
),
-- 2. Transfer tools.
from_tools as (
    select
        tool_rows.run_id,
        tool_rows.start_ns,
        coalesce(batch_spans.span_id, tool_rows.run_id || ':' || tool_rows.request_key) as handoff_id,
        tool_rows.named as from_name,
        coalesce(
            argument_target(tool_rows.arguments),
            case when name_key(transfer_target(tool_rows.tool_name)) in (select agent_key from names)
                or name_key(transfer_target(tool_rows.tool_name)) not in ('agent') then transfer_target(tool_rows.tool_name) end
        ) as to_name,
        tool_rows.a as from_a,
        'transfer_tool' as mechanism,
        'pass_control' as mode,
        1.0 as confidence
    from tool_rows
    inner join tool_kinds on tool_kinds.run_id = tool_rows.run_id
        and (tool_kinds.s = tool_rows.s or tool_kinds.request_key = tool_rows.request_key)
    left join batch_spans on batch_spans.s = tool_rows.s
    where tool_kinds.is_handoff
        and tool_rows.outcome in ('executed', 'no_result')
        and tool_rows.run_id not in (select run_id from from_spans)
        and not regexp_matches(tool_rows.tool_name, '(?i)transfer_back_to_')
),
-- 3. Agents started by a tool call, or directly by another agent.
from_nesting as (
    select
        nested.run_id,
        nested.start_ns,
        nested.span_id || ':start' as handoff_id,
        caller.agent_name as from_name,
        nested.agent_name as to_name,
        nested.parent_a as from_a,
        case when nested.caller_tool is not null or delegated_by_request.a is not null then 'agent_as_tool'
            else 'graph_edge' end as mechanism,
        'return_to_caller' as mode,
        case when nested.caller_tool is not null or delegated_by_request.a is not null then 1.0 else 0.8 end as confidence
    from agent_rows as nested
    inner join agent_rows as caller on caller.a = nested.parent_a
    left join delegated_by_request on delegated_by_request.a = nested.a
    where nested.agent_name is not null
        -- The receiver of a handoff may run inside the giver: that is the one handoff.
        and not (nested.caller_tool is null and delegated_by_request.a is null and exists (
            select 1
            from (from from_spans union all from from_tools) as said
            where said.run_id = nested.run_id and said.start_ns <= nested.start_ns
                and name_key(said.to_name) = name_key(nested.agent_name)
                and (said.from_a = caller.a or name_key(said.from_name) = name_key(caller.agent_name))
        ))
),
-- 4. Delegation tools whose receiver left no span.
from_delegation as (
    select
        tool_rows.run_id,
        tool_rows.start_ns,
        coalesce(batch_spans.span_id, tool_rows.run_id || ':' || tool_rows.request_key) as handoff_id,
        tool_rows.named as from_name,
        argument_target(tool_rows.arguments) as to_name,
        tool_rows.a as from_a,
        'agent_as_tool' as mechanism,
        'return_to_caller' as mode,
        1.0 as confidence
    from tool_rows
    left join batch_spans on batch_spans.s = tool_rows.s
    where is_delegation_tool(tool_rows.tool_name) and argument_target(tool_rows.arguments) is not null
        and (tool_rows.s is null or tool_rows.s not in (select caller_tool from agent_rows where caller_tool is not null))
        and (tool_rows.s is null or tool_rows.s not in (select s from agent_rows))
)
select * from from_spans
union all
select * from from_tools
union all
select * from from_nesting
union all
select * from from_delegation;
