-- The handoffs of each run: what was stated, and where nothing says anything agents of one workflow that follow each other; each
-- with the invocations that gave and took control.
create or replace temp table handoff_rows as
with siblings as (
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
        and run_id not in (select run_id from stated_handoffs where mode = 'pass_control')
),
every as (
    select * from stated_handoffs
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

-- A request for a transfer that nothing answers was carried out when the agent it names took over.
update tool_rows
set outcome = 'executed'
from handoff_rows
where tool_rows.outcome = 'no_result'
    and is_transfer_tool(tool_rows.tool_name)
    and handoff_rows.run_id = tool_rows.run_id
    and handoff_rows.to_invocation is not null
    and handoff_rows.mode = 'pass_control'
    and (handoff_rows.handoff_id = tool_rows.run_id || ':' || tool_rows.request_key
        or handoff_rows.mechanism = 'span' and handoff_rows.start_ns >= tool_rows.start_ns
        and name_key(handoff_rows.to_agent) = name_key(transfer_target(tool_rows.tool_name)));
