-- The rows of `runs`, from what the earlier steps found.
create or replace temp table run_ends as
with top_spans as (
    select
        run_spans.run_id,
        arg_max(run_spans.status_code = 2 and not is_control_flow(
            coalesce(span_exceptions.exception_type, '') || ' ' || coalesce(run_spans.status_message, '')), run_spans.end_ns)
            as failed,
        arg_max(coalesce(span_facts.error_type, span_exceptions.exception_type), run_spans.end_ns) as error_type,
        arg_max(coalesce(nullif(run_spans.status_message, ''), span_facts.error_message, span_exceptions.exception_message),
            run_spans.end_ns) as error_message,
        bool_or(run_spans.class in ('agent', 'workflow', 'node', 'other')) as has_root
    from run_spans
    inner join span_facts using (s)
    left join span_exceptions using (s)
    where run_spans.is_top or run_spans.parent is null
    group by run_spans.run_id
),
last_calls as (
    select
        run_id,
        arg_max(status, (start_ns, s)) as status,
        arg_max(finish_reason, (start_ns, s)) as finish_reason,
        arg_max(error_type, (start_ns, s)) as error_type,
        arg_max(coalesce(error_message, status_message), (start_ns, s)) as error_message
    from batch_llm_calls
    group by run_id
),
errors as (
    select run_spans.run_id, string_agg(span_exceptions.exception_type || ' ' || coalesce(span_exceptions.exception_message, ''), ' ')
        as text
    from run_spans
    inner join span_exceptions using (s)
    where run_spans.class in ('agent', 'workflow') or run_spans.parent is null
    group by run_spans.run_id
)
select
    run_identity.run_id,
    case
        when run_identity.is_running then 'running'
        when regexp_matches(coalesce(top_spans.error_type, ''), '(?i)cancell?ed|KeyboardInterrupt') then 'cancelled'
        when top_spans.failed and is_limit_error(coalesce(top_spans.error_type, '') || ' ' || coalesce(errors.text, '')) then 'truncated'
        when top_spans.failed then 'error'
        when last_calls.status = 'error' then 'error'
        -- The last call asked for a tool that nothing ran, and a step around it failed: the framework gave up.
        when broken_off.run_id is not null then 'error'
        when run_identity.orphan_spans > 0 then 'incomplete'
        when last_calls.finish_reason in ('length', 'content_filter') then 'truncated'
        when exists (select 1 from tool_rows where tool_rows.run_id = run_identity.run_id and tool_rows.outcome = 'deferred')
            then 'paused'
        else 'ok'
    end as status,
    case
        when top_spans.failed then top_spans.error_type
        when last_calls.status = 'error' then last_calls.error_type
    end as error_type,
    case
        when top_spans.failed then top_spans.error_message
        when last_calls.status = 'error' then last_calls.error_message
    end as error_message
from run_identity
left join top_spans using (run_id)
left join last_calls using (run_id)
left join errors using (run_id)
left join (
    select distinct tool_rows.run_id
    from tool_rows
    inner join (select run_id, arg_max(s, (start_ns, s)) as s from batch_llm_calls group by run_id) as last_llm
        on last_llm.run_id = tool_rows.run_id and last_llm.s = tool_rows.llm_s
    inner join batch_spans as calling on calling.s = last_llm.s
    inner join run_spans on run_spans.run_id = tool_rows.run_id and run_spans.class = 'node' and run_spans.status_code = 2
        and run_spans.start_ns <= calling.start_ns and run_spans.end_ns >= calling.end_ns
    where tool_rows.outcome in ('no_result', 'unknown_tool') and not tool_rows.has_span
) as broken_off using (run_id);

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
        sum(cost_usd) as cost_usd,
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
    from log_records
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
