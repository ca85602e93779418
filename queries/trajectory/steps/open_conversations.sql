-- Traces that hold LLM calls and no agent: what they asked tools for, and what stands in their input after the question.
delete from open_conversations where trace_id in (select trace_id from batch_traces);

insert into open_conversations
with bare as (
    select batch_spans.trace_id
    from batch_spans
    inner join span_class using (s)
    group by batch_spans.trace_id
    having bool_or(span_class.class = 'llm') and bool_and(span_class.class in ('llm', 'other'))
),
calls as (
    select
        batch_spans.trace_id,
        batch_spans.resource_id,
        batch_spans.start_ns,
        message_parts.direction,
        message_parts.part_type,
        message_parts.tool_name || ' ' || md5(coalesce(message_parts.arguments, '')) as call,
        message_parts.tool_call_id,
        span_texts.text as question,
        message_parts.position
            > max(message_parts.position) filter (where message_parts.role = 'user' and message_parts.part_type = 'text'
                and message_parts.direction = 'input') over (partition by batch_spans.s) as is_after_question
    from message_parts
    inner join batch_spans using (s)
    inner join span_class using (s)
    left join span_texts on span_texts.s = batch_spans.s and span_texts.direction = 'input'
    where batch_spans.trace_id in (select trace_id from bare) and span_class.class = 'llm'
)
select
    trace_id,
    any_value(resource_id),
    min(start_ns),
    md5(arg_min(question, start_ns)),
    list(distinct coalesce(tool_call_id || ' ', '') || call) filter (where direction = 'output' and part_type = 'tool_call' and call is not null),
    -- A model whose calls have no id is continued by a conversation that gives them one, or none.
    list_distinct(flatten(list([tool_call_id || ' ' || call, call]) filter (
        where direction = 'input' and part_type = 'tool_call' and is_after_question and call is not null)))
from calls
group by trace_id;
