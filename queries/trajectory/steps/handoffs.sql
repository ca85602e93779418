-- Control passing between agents, in every shape that emitters give it. Sources, the surest first:
-- a span that says so; a transfer tool; an agent that runs inside a tool call or directly under another agent; and, where
-- nothing says anything, agents of one workflow that follow each other.

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
        and contains(name_key(tool_rows.tool_name), name_key(placed.agent_name))
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
    and (contains(name_key(tool_rows.tool_name), name_key(nested.agent_name))
        or name_key(argument_target(tool_rows.arguments)) = name_key(nested.agent_name))
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

create or replace temp table handoff_rows as
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
),
stated as (
    select * from from_spans
    union all
    select * from from_tools
    union all
    select * from from_nesting
    union all
    select * from from_delegation
),
-- 5. Agents of one workflow one after another, where nothing above says anything.
siblings as (
    select
        *,
        lag(agent_name) over same_workflow as previous_name,
        lag(a) over same_workflow as previous_a,
        lag(end_ns) over same_workflow as previous_end
    from agent_rows
    where parent_a is null
    window same_workflow as (partition by run_id, workflow_above order by seq)
),
from_sequence as (
    select
        run_id,
        start_ns,
        span_id || ':start' as handoff_id,
        previous_name as from_name,
        agent_name as to_name,
        previous_a as from_a,
        'inferred' as mechanism,
        'sequence' as mode,
        0.5 as confidence
    from siblings
    where workflow_above is not null
        and previous_name is not null and agent_name is not null and previous_name <> agent_name
        and previous_end <= start_ns
        and run_id not in (select run_id from stated where mode = 'pass_control')
),
every as (
    select * from stated
    union all
    select * from from_sequence
),
resolved as (
    select
        every.*,
        coalesce(source.agent_name, source_by_name.agent_name, every.from_name) as from_agent,
        coalesce(source.a, source_by_name.a) as from_invocation,
        coalesce(receiver.agent_name, next_agent.agent_name, every.to_name) as to_agent,
        coalesce(receiver.a, next_agent.a) as to_invocation
    from every
    left join agent_rows as source on source.a = every.from_a
    left join lateral (
        select candidate.agent_name, candidate.a
        from agent_rows as candidate
        where candidate.run_id = every.run_id and name_key(candidate.agent_name) = name_key(every.from_name)
            and candidate.start_ns <= every.start_ns
        order by candidate.start_ns desc
        limit 1
    ) as source_by_name on source.a is null
    left join lateral (
        select candidate.agent_name, candidate.a
        from agent_rows as candidate
        where candidate.run_id = every.run_id and name_key(candidate.agent_name) = name_key(every.to_name)
            and candidate.start_ns >= every.start_ns
        order by candidate.start_ns
        limit 1
    ) as receiver on every.to_name is not null
    left join lateral (
        select candidate.agent_name, candidate.a
        from agent_rows as candidate
        where candidate.run_id = every.run_id and candidate.start_ns >= every.start_ns
        order by candidate.start_ns
        limit 1
    ) as next_agent on every.to_name is null
)
select
    resolved.*,
    row_number() over (partition by run_id order by start_ns, handoff_id) as seq
from resolved
where to_agent is not null;
