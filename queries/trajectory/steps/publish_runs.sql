-- The rows of `runs`, from what the earlier steps found. Sums of costs are taken in the order of the values, as the last digit
-- depends on it.
insert into runs by name
with llm as (
    select
        run_id,
        count(*) as llm_calls,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_tokens)::bigint as cache_write_tokens,
        sum(reasoning_tokens)::bigint as reasoning_tokens,
        list_sum(list_sort(list(cost_usd))) as cost_usd,
        count(*) filter (where cost_usd is null) as unpriced_llm_calls,
        sum(cost_reported_usd) as cost_reported_usd
    from llm_calls
    where trace_id in (select trace_id from batch_traces)
    group by run_id
),
tool as (
    select
        run_id,
        count(*) filter (where not is_handoff and not is_agent_tool) as tool_calls,
        count(*) filter (where status = 'error' and not is_handoff and not is_agent_tool) as tool_errors,
        bool_or(arguments is not null or result is not null) as has_content
    from tool_calls
    where trace_id in (select trace_id from batch_traces)
    group by run_id
),
agent as (
    select run_id, count(*) as agent_invocations, arg_min(agent_name, seq) as entry_agent
    from agent_rows
    group by run_id
),
handed as (
    select run_id, count(*) as handoffs
    from handoff_rows
    group by run_id
),
logs as (
    select traces.run_id, md5(string_agg(log_records.log_record_id, ',' order by log_records.log_record_id)) as fingerprint
    from raw_logs as log_records
    inner join (select distinct run_id, trace_id from run_spans) as traces using (trace_id)
    group by traces.run_id
),
content as (
    select distinct run_spans.run_id
    from run_spans
    inner join message_parts using (s)
    where coalesce(message_parts.text, message_parts.arguments, message_parts.response) is not null
)
select
    run_identity.run_id,
    run_identity.trace_id,
    case when run_identity.case_id is null then 'production' else 'benchmark' end as source,
    coalesce(run_identity.session_id, run_identity.conversation_id) as session_id,
    run_identity.user_id,
    run_identity.service_name,
    run_identity.experiment_id,
    run_identity.suite_name,
    run_identity.suite_version,
    run_identity.case_id,
    run_identity.trial,
    run_identity.variant,
    run_identity.name,
    agent.entry_agent,
    run_identity.started_at,
    run_identity.ended_at,
    run_identity.duration_s,
    run_ends.status,
    run_ends.error_type,
    run_ends.error_message,
    run_questions.question,
    run_answers.final_answer,
    run_answers.final_answer_source,
    coalesce(llm.llm_calls, 0) as llm_calls,
    coalesce(tool.tool_calls, 0) as tool_calls,
    coalesce(tool.tool_errors, 0) as tool_errors,
    coalesce(agent.agent_invocations, 0) as agent_invocations,
    coalesce(handed.handoffs, 0) as handoffs,
    coalesce(llm.input_tokens, agent_totals.total.input_tokens) as input_tokens,
    coalesce(llm.output_tokens, agent_totals.total.output_tokens) as output_tokens,
    coalesce(llm.cache_read_tokens, agent_totals.total.cache_read_tokens) as cache_read_tokens,
    llm.cache_write_tokens,
    coalesce(llm.reasoning_tokens, agent_totals.total.reasoning_tokens) as reasoning_tokens,
    llm.cost_usd,
    coalesce(llm.unpriced_llm_calls, 0) as unpriced_llm_calls,
    llm.cost_reported_usd,
    content.run_id is not null or coalesce(tool.has_content, false) as has_content,
    run_identity.orphan_spans,
    run_identity.spans,
    run_identity.conventions,
    md5(run_identity.span_fingerprint || coalesce(logs.fingerprint, '')) as fingerprint
from run_identity
inner join run_ends using (run_id)
left join run_questions using (run_id)
left join run_answers using (run_id)
left join llm using (run_id)
left join tool using (run_id)
left join agent using (run_id)
left join handed using (run_id)
left join agent_totals using (run_id)
left join content using (run_id)
left join logs using (run_id);
