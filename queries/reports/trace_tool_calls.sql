-- The tool calls of a run that ran, in the order in which they began.
select
    tool_call_id,
    agent_invocation_id,
    agent_name,
    llm_call_id,
    seq,
    tool_name,
    arguments::varchar as arguments,
    result,
    started_at,
    duration_s,
    status,
    error_type,
    error_message,
    error_source,
    is_handoff,
    is_agent_tool
from tool_calls
where run_id = $run_id
order by started_at nulls last, seq
