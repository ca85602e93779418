-- The parts of messages. History that every call sends again is marked: `is_new` holds for the first occurrence in the run.
insert into messages by name
select
    span_runs.run_id,
    batch_spans.trace_id,
    batch_spans.span_id,
    batch_llm_calls.span_id as llm_call_id,
    message_parts.direction,
    message_parts.position,
    message_parts.part_index,
    message_parts.role,
    message_parts.part_type,
    message_parts.text,
    message_parts.tool_call_id,
    message_parts.tool_name,
    message_parts.arguments,
    message_parts.response,
    row_number() over (
        partition by span_runs.run_id, message_parts.role, message_parts.part_type, message_parts.text,
            message_parts.tool_call_id, message_parts.tool_name, message_parts.arguments, message_parts.response
        order by batch_spans.start_ns, batch_spans.s, message_parts.direction, message_parts.position, message_parts.part_index
    ) = 1 as is_new
from message_parts
inner join span_runs using (s)
inner join batch_spans using (s)
left join batch_llm_calls using (s);
