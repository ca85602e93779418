-- How each run ended: the last of its top spans decides, then its last LLM call, then what is missing.
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
    where (run_spans.is_top or run_spans.parent is null) and span_facts.trial_outcome is distinct from 'ok'
    group by run_spans.run_id
),
last_calls as (
    select
        run_id,
        arg_max(status, (start_ns, s)) as status,
        arg_max(status = 'ok' and s in (select call_s from call_texts where direction = 'output' and not has_tool_call),
            (start_ns, s)) as answered,
        arg_max(finish_reason, (start_ns, s)) as finish_reason,
        arg_max(error_type, (start_ns, s)) as error_type,
        arg_max(coalesce(error_message, status_message), (start_ns, s)) as error_message
    from batch_llm_calls
    group by run_id
),
-- Where no LLM call was recorded, the last of the agents that nobody called tells of a failure that a workflow around it lacks.
last_agents as (
    select
        agent_rows.run_id,
        arg_max(coalesce(span_facts.finish_reason, '') = 'error' or run_spans.status_code = 2 and not is_control_flow(
            coalesce(span_exceptions.exception_type, '') || ' ' || coalesce(run_spans.status_message, '')), agent_rows.seq) as failed,
        arg_max(coalesce(span_facts.error_type, span_exceptions.exception_type), agent_rows.seq) as error_type,
        arg_max(coalesce(nullif(run_spans.status_message, ''), span_exceptions.exception_message), agent_rows.seq) as error_message
    from agent_rows
    inner join run_spans using (s)
    inner join span_facts using (s)
    left join span_exceptions using (s)
    where agent_rows.caller_tool is null and agent_rows.parent_a is null
        and agent_rows.run_id not in (select run_id from last_calls)
    group by agent_rows.run_id
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
        -- What is closed after the answer was given is not cancelled.
        when regexp_matches(coalesce(top_spans.error_type, ''), '(?i)cancell?ed|KeyboardInterrupt')
            and not coalesce(last_calls.answered, false) then 'cancelled'
        when top_spans.failed and is_limit_error(coalesce(top_spans.error_type, '') || ' ' || coalesce(errors.text, '')) then 'truncated'
        when top_spans.failed then 'error'
        when last_calls.status = 'error' or last_agents.failed then 'error'
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
        when last_agents.failed then last_agents.error_type
    end as error_type,
    case
        when top_spans.failed then top_spans.error_message
        when last_calls.status = 'error' then last_calls.error_message
        when last_agents.failed then last_agents.error_message
    end as error_message
from run_identity
left join top_spans using (run_id)
left join last_calls using (run_id)
left join last_agents using (run_id)
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
