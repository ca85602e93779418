-- Agents in order of start, and which tool call started each one.
create or replace temp table agent_rows as
with placed as (
    select
        agent_spans.*,
        batch_spans.trace_id,
        batch_spans.span_id,
        batch_spans.start_ns,
        batch_spans.end_ns,
        row_number() over (partition by agent_spans.run_id order by batch_spans.start_ns, agent_spans.s) as seq
    from agent_spans
    inner join batch_spans using (s)
),
-- An emitter may hang a nested agent elsewhere than under its tool call: the one tool call that spans it in time and is
-- named after it started it.
contained as (
    select placed.a, any_value(tool_rows.s) as caller_tool, any_value(tool_rows.a) as caller_a
    from placed
    inner join tool_rows
        on tool_rows.run_id = placed.run_id
        and tool_rows.has_span
        and tool_rows.start_ns <= placed.start_ns
        and tool_rows.start_ns + tool_rows.duration_ns >= placed.end_ns
        and tool_rows.a is distinct from placed.a
        and asks_agent(tool_rows.tool_name, tool_rows.arguments, placed.agent_name)
    where placed.caller_tool is null
    group by placed.a
    having count(*) = 1
)
select
    placed.* exclude (caller_tool, parent_a),
    coalesce(placed.caller_tool, contained.caller_tool) as caller_tool,
    coalesce(contained.caller_a, placed.parent_a) as parent_a
from placed
left join contained using (a);

-- Calls that only messages show and that name an agent which then ran directly under the caller: delegations.
create or replace temp table delegated_by_request as
select
    nested.a,
    arg_max(tool_rows.request_key, tool_rows.start_ns) as request_key,
    nested.run_id
from agent_rows as nested
inner join tool_rows
    on tool_rows.run_id = nested.run_id
    and not tool_rows.has_span
    and tool_rows.a = nested.parent_a
    and tool_rows.start_ns <= nested.start_ns
    and asks_agent(tool_rows.tool_name, tool_rows.arguments, nested.agent_name)
where nested.caller_tool is null and nested.parent_a is not null
group by nested.a, nested.run_id;

create or replace temp table tool_kinds as
select
    tool_rows.run_id,
    tool_rows.s,
    tool_rows.request_key,
    is_transfer_tool(tool_rows.tool_name)
        and not (tool_rows.s is not null and tool_rows.s in (select caller_tool from agent_rows where caller_tool is not null))
        as is_handoff,
    tool_rows.s is not null and tool_rows.s in (select caller_tool from agent_rows where caller_tool is not null)
        or (tool_rows.run_id, tool_rows.request_key) in (select (run_id, request_key) from delegated_by_request)
        or is_delegation_tool(tool_rows.tool_name)
        or tool_rows.subagent_type is not null as is_agent_tool
from tool_rows;
