-- Agent invocations and handoffs. Counts and sums are an agent's own; those of agents below it are theirs.
create or replace temp table agent_texts as
select
    agent_rows.a,
    max(texts.text) filter (where texts.direction = 'input') as input_text,
    max(texts.text) filter (where texts.direction = 'output') as output_text
from agent_rows
inner join span_texts as texts on texts.s = agent_rows.s
group by agent_rows.a;

insert into agent_invocations by name
with recursive depths as (
    select a, 0 as depth
    from agent_rows
    where parent_a is null or parent_a not in (select a from agent_rows)
    union all
    select agent_rows.a, depths.depth + 1
    from depths
    inner join agent_rows on agent_rows.parent_a = depths.a
    where depths.depth < 1000
),
llm as (
    select
        agent_invocation_id,
        run_id,
        count(*) as llm_calls,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        list_sum(list_sort(list(cost_usd))) as cost_usd
    from llm_calls
    where trace_id in (select trace_id from batch_traces)
    group by agent_invocation_id, run_id
),
tool as (
    select agent_invocation_id, run_id, count(*) as tool_calls
    from tool_calls
    where trace_id in (select trace_id from batch_traces) and not is_handoff and not is_agent_tool
    group by agent_invocation_id, run_id
)
select
    agent_rows.span_id as agent_invocation_id,
    agent_rows.run_id,
    agent_rows.trace_id,
    parent.span_id as parent_agent_invocation_id,
    agent_rows.agent_name,
    agent_rows.agent_id,
    case
        when agent_rows.caller_tool is not null or agent_rows.a in (select a from delegated_by_request) then 'tool'
        when agent_rows.a in (select to_invocation from handoff_rows where mode = 'pass_control') then 'handoff'
        when parent.a is not null then 'agent'
        when agent_rows.workflow_above is not null then 'workflow'
        else 'root'
    end as caller_kind,
    coalesce(depths.depth, 0) as depth,
    agent_rows.seq,
    batch_spans.start_time as started_at,
    case when agent_rows.a >= 0 then batch_spans.duration_ns / 1e9 end as duration_s,
    case when agent_rows.a >= 0 and batch_spans.status_code = 2 and not span_is_control_flow then 'error' else 'ok' end as status,
    case when agent_rows.a >= 0 and batch_spans.status_code = 2 and not span_is_control_flow
        then coalesce(span_facts.error_type, span_exceptions.exception_type) end as error_type,
    coalesce(llm.llm_calls, 0) as llm_calls,
    coalesce(tool.tool_calls, 0) as tool_calls,
    llm.input_tokens,
    llm.output_tokens,
    llm.cost_usd,
    agent_texts.input_text,
    agent_texts.output_text
from (
    select
        agent_rows.*,
        is_control_flow(coalesce(span_exceptions.exception_type, '') || ' ' || coalesce(batch_spans.status_message, ''))
            as span_is_control_flow
    from agent_rows
    inner join batch_spans using (s)
    left join span_exceptions using (s)
) as agent_rows
inner join batch_spans using (s)
inner join span_facts using (s)
left join span_exceptions using (s)
left join agent_rows as parent on parent.a = agent_rows.parent_a
left join depths on depths.a = agent_rows.a
left join llm on llm.agent_invocation_id = agent_rows.span_id and llm.run_id = agent_rows.run_id
left join tool on tool.agent_invocation_id = agent_rows.span_id and tool.run_id = agent_rows.run_id
left join agent_texts on agent_texts.a = agent_rows.a;

insert into handoffs by name
with worked as (
    select handoff_rows.run_id, handoff_rows.seq, count(tool_rows.run_id) as n
    from handoff_rows
    left join tool_rows on tool_rows.run_id = handoff_rows.run_id and tool_rows.a = handoff_rows.to_invocation
        and tool_rows.outcome = 'executed' and not is_transfer_tool(tool_rows.tool_name)
    group by handoff_rows.run_id, handoff_rows.seq
)
select
    handoff_rows.handoff_id,
    handoff_rows.run_id,
    run_traces.trace_id,
    handoff_rows.seq,
    handoff_rows.from_agent,
    handoff_rows.to_agent,
    source.span_id as from_invocation_id,
    receiver.span_id as to_invocation_id,
    handoff_rows.mode,
    handoff_rows.mechanism,
    make_timestamp_ns(handoff_rows.start_ns::bigint) as "at",
    exists (
        select 1 from handoff_rows as earlier
        where earlier.run_id = handoff_rows.run_id and earlier.seq < handoff_rows.seq
            and earlier.from_agent = handoff_rows.to_agent and earlier.to_agent = handoff_rows.from_agent
    ) as is_back,
    coalesce(handoff_rows.mode = 'pass_control' and worked.n = 0 and next_handoff.to_agent = handoff_rows.from_agent
        and next_handoff.from_agent = handoff_rows.to_agent, false) as is_bounce,
    receiver.a is not null as succeeded,
    handoff_rows.confidence
from handoff_rows
inner join run_traces using (run_id)
left join agent_rows as source on source.a = handoff_rows.from_invocation
left join agent_rows as receiver on receiver.a = handoff_rows.to_invocation
left join worked on worked.run_id = handoff_rows.run_id and worked.seq = handoff_rows.seq
left join handoff_rows as next_handoff on next_handoff.run_id = handoff_rows.run_id and next_handoff.seq = handoff_rows.seq + 1;
