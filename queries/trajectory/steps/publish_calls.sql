-- Rows of the public tables: agents, LLM calls, tool calls and requests, handoffs, retrievals, messages.
insert into llm_calls by name
select
    batch_llm_calls.span_id as llm_call_id,
    batch_llm_calls.run_id,
    batch_llm_calls.trace_id,
    agent_rows.span_id as agent_invocation_id,
    coalesce(agent_rows.agent_name, batch_llm_calls.named) as agent_name,
    row_number() over (partition by batch_llm_calls.run_id order by batch_llm_calls.start_ns, batch_llm_calls.s) as seq,
    batch_llm_calls.operation,
    batch_llm_calls.provider,
    batch_llm_calls.request_model,
    batch_llm_calls.response_model,
    batch_llm_calls.response_id,
    batch_llm_calls.start_time as started_at,
    case when not batch_llm_calls.is_transcript then batch_llm_calls.duration_ns / 1e9 end as duration_s,
    batch_llm_calls.time_to_first_chunk_s,
    batch_llm_calls.status,
    case when batch_llm_calls.status = 'error' then batch_llm_calls.error_type end as error_type,
    case when batch_llm_calls.status = 'error'
        then coalesce(batch_llm_calls.error_message, nullif(batch_llm_calls.status_message, '')) end as error_message,
    batch_llm_calls.finish_reason,
    batch_llm_calls.input_tokens,
    batch_llm_calls.output_tokens,
    batch_llm_calls.cache_read_tokens,
    batch_llm_calls.cache_write_tokens,
    batch_llm_calls.reasoning_tokens,
    batch_llm_calls.usage_basis,
    batch_llm_calls.service_tier,
    priced_calls.cost_usd,
    priced_calls.input_cost_usd,
    priced_calls.output_cost_usd,
    priced_calls.price_model_id,
    case
        when priced_calls.unpriced_reason = 'no_usage'
            and list_has_any(unusable_columns.columns, ['input_tokens', 'output_tokens']) then 'unusable_usage'
        else priced_calls.unpriced_reason
    end as unpriced_reason,
    batch_llm_calls.cost_reported_usd,
    case when batch_llm_calls.is_transcript then 'transcript' else 'span' end as source,
    unusable_columns.columns as unusable_columns
from batch_llm_calls
left join unusable_columns using (s)
left join agent_rows using (a)
left join priced_calls on priced_calls.llm_call_id = batch_llm_calls.s::varchar;

insert into tool_calls by name
select
    coalesce(tool_rows.call_id, batch_spans.span_id) as tool_call_id,
    tool_rows.run_id,
    coalesce(batch_spans.trace_id, calling.trace_id, run_traces.trace_id) as trace_id,
    batch_spans.span_id,
    agent_rows.span_id as agent_invocation_id,
    coalesce(agent_rows.agent_name, tool_rows.named) as agent_name,
    calling.span_id as llm_call_id,
    row_number() over (partition by tool_rows.run_id order by tool_rows.start_ns, tool_rows.s, tool_rows.place) as seq,
    tool_rows.tool_name,
    coalesce(as_json(tool_rows.arguments), to_json(tool_rows.arguments)) as arguments,
    tool_rows.result,
    coalesce(tool_rows.start_time, calling.start_time) as started_at,
    tool_rows.duration_ns / 1e9 as duration_s,
    case when tool_rows.error_source is null then 'ok' else 'error' end as status,
    case when tool_rows.error_source is not null then tool_rows.error_type end as error_type,
    case when tool_rows.error_source is not null then coalesce(tool_rows.error_message, tool_rows.result) end as error_message,
    tool_rows.error_source,
    tool_kinds.is_handoff,
    tool_kinds.is_agent_tool,
    tool_rows.requested,
    true as executed
from tool_rows
inner join tool_kinds on tool_kinds.run_id = tool_rows.run_id
    and tool_kinds.s is not distinct from tool_rows.s and tool_kinds.request_key is not distinct from tool_rows.request_key
left join batch_spans on batch_spans.s = tool_rows.s
left join batch_llm_calls as calling on calling.s = tool_rows.llm_s
left join run_traces on run_traces.run_id = tool_rows.run_id
left join agent_rows on agent_rows.a = tool_rows.a
where tool_rows.outcome = 'executed';

insert into tool_requests by name
select
    tool_rows.call_id as tool_call_id,
    tool_rows.run_id,
    coalesce(batch_spans.trace_id, calling.trace_id, run_traces.trace_id) as trace_id,
    agent_rows.span_id as agent_invocation_id,
    coalesce(agent_rows.agent_name, tool_rows.named) as agent_name,
    calling.span_id as llm_call_id,
    row_number() over (partition by tool_rows.run_id order by tool_rows.start_ns, tool_rows.s, tool_rows.place) as seq,
    tool_rows.tool_name,
    coalesce(as_json(tool_rows.arguments), to_json(tool_rows.arguments)) as arguments,
    tool_rows.outcome,
    coalesce(tool_rows.result, tool_rows.response, tool_rows.error_message) as response,
    coalesce(tool_rows.start_time, calling.start_time) as started_at,
    tool_kinds.is_handoff
from tool_rows
inner join tool_kinds on tool_kinds.run_id = tool_rows.run_id
    and tool_kinds.s is not distinct from tool_rows.s and tool_kinds.request_key is not distinct from tool_rows.request_key
left join batch_spans on batch_spans.s = tool_rows.s
left join batch_llm_calls as calling on calling.s = tool_rows.llm_s
left join run_traces on run_traces.run_id = tool_rows.run_id
left join agent_rows on agent_rows.a = tool_rows.a
where tool_rows.outcome <> 'executed';

insert into retrievals by name
select
    batch_spans.span_id as retrieval_id,
    span_runs.run_id,
    batch_spans.trace_id,
    agent_rows.span_id as agent_invocation_id,
    coalesce(agent_rows.agent_name, span_agents.named) as agent_name,
    case
        when upper(span_facts.oi_kind) = 'RERANKER' or upper(span_facts.mlflow_type) = 'RERANKER' then 'rerank'
        when span_facts.operation like '%memory%' then 'memory'
        else 'retrieve'
    end as kind,
    span_facts.data_source,
    coalesce(span_facts.retrieval_query, plain_answer(as_json(span_facts.input_messages)), span_facts.input_messages) as query,
    batch_spans.start_time as started_at,
    batch_spans.duration_ns / 1e9 as duration_s,
    case when batch_spans.status_code = 2 then 'error' else 'ok' end as status,
    coalesce(
        as_json(span_facts.retrieval_documents),
        flat_documents.documents,
        as_json(span_facts.output_messages)
    ) as documents
from batch_spans
inner join span_class using (s)
inner join span_runs using (s)
inner join span_facts using (s)
left join span_agents using (s)
left join agent_rows using (a)
left join (
    select s, to_json(list({'rank': position, 'field': field, 'value': value} order by position, field)) as documents
    from (
        select s, split_part(key, '.', 3)::integer as position, regexp_extract(key, 'document\.(.+)$', 1) as field, value
        from flat_attributes
        where starts_with(key, 'retrieval.documents.')
    )
    group by s
) as flat_documents using (s)
where span_class.class = 'retrieval';
