-- What each LLM call of a run was told for the first time and what it answered. History that is sent again is left out.
select
    llm_call_id,
    direction,
    position,
    part_index,
    role,
    part_type,
    text,
    tool_call_id,
    tool_name
from messages
where run_id = $run_id and is_new
order by llm_call_id, direction = 'output', position, part_index
