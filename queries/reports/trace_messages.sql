-- What each LLM call of a run answered, and what it was told that no earlier call had been told: every call sends the whole
-- history again, and a part counts as told where it first appears, be it as an answer.
with parts as (
    select
        messages.llm_call_id,
        messages.direction,
        messages.position,
        messages.part_index,
        messages.role,
        messages.part_type,
        messages.text,
        messages.tool_call_id,
        messages.tool_name,
        messages.arguments,
        messages.response,
        llm_calls.started_at,
        llm_calls.seq,
        row_number() over (
            partition by
                messages.role,
                messages.part_type,
                messages.text,
                messages.tool_call_id,
                messages.arguments,
                messages.response
            order by
                llm_calls.started_at,
                llm_calls.seq,
                messages.direction = 'output',
                messages.position,
                messages.part_index
        ) as occurrence
    from messages
    join llm_calls using (run_id, llm_call_id)
    where messages.run_id = $run_id
)

select
    llm_call_id,
    direction,
    position,
    part_index,
    role,
    part_type,
    text,
    tool_call_id,
    tool_name,
    arguments,
    response
from parts
where direction = 'output' or occurrence = 1
order by started_at nulls last, seq, direction = 'output', position, part_index
