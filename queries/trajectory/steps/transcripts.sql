-- Agents whose instrumentation writes no LLM spans, only the record of the conversation: each assistant message in it is an LLM
-- call, known without time, model or usage. Their `s` are numbers above those of spans.
create or replace temp table transcript_calls as
with silent as (
    select agent_spans.s, agent_spans.a, agent_spans.run_id
    from agent_spans
    where agent_spans.a >= 0
        and agent_spans.run_id not in (select run_id from batch_llm_calls)
        and agent_spans.s in (
            select s from message_parts where direction = 'output' group by s having count(distinct position) > 1
        )
),
-- A conversation that is carried on starts with what was said before: work after the last question is this run's own.
questions as (
    select s, max(position) as position
    from message_parts
    where direction = 'output' and role = 'user' and part_type = 'text'
    group by s
)
select
    silent.s as span_s,
    (1000000000 + silent.s * 10000::bigint + message_parts.position)::integer as s,
    silent.a,
    silent.run_id,
    message_parts.position,
    bool_or(message_parts.part_type = 'tool_call') as has_tool_call
from silent
inner join message_parts on message_parts.s = silent.s and message_parts.direction = 'output'
left join questions on questions.s = silent.s
where message_parts.role = 'assistant' and message_parts.position > coalesce(questions.position, 0)
    and message_parts.position < 10000
group by all;

insert into batch_llm_calls by name
select
    transcript_calls.s,
    batch_spans.trace_id,
    batch_spans.span_id || ':' || transcript_calls.position as span_id,
    batch_spans.name,
    batch_spans.start_ns + transcript_calls.position as start_ns,
    batch_spans.status_code,
    batch_spans.scope_name,
    span_class.convention,
    transcript_calls.run_id,
    transcript_calls.a,
    'ok' as status,
    true as is_transcript
from transcript_calls
inner join batch_spans on batch_spans.s = transcript_calls.span_s
inner join span_class on span_class.s = transcript_calls.span_s;
