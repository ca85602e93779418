-- The tool calls of a run. One that a model asked for and nothing ran has no start of its own: it stands after the call that asked.
select
    tool_calls.tool_call_id,
    tool_calls.agent_invocation_id,
    tool_calls.agent_name,
    tool_calls.llm_call_id,
    tool_calls.seq,
    tool_calls.tool_name,
    tool_calls.arguments::varchar as arguments,
    tool_calls.result::varchar as result,
    coalesce(tool_calls.started_at, llm_calls.started_at) as started_at,
    tool_calls.duration_s,
    tool_calls.status,
    tool_calls.error_type,
    tool_calls.error_message,
    tool_calls.error_source,
    tool_calls.is_handoff,
    tool_calls.is_agent_tool,
    tool_calls.requested,
    tool_calls.executed
from tool_calls
left join llm_calls using (run_id, llm_call_id)
where tool_calls.run_id = $run_id
order by coalesce(tool_calls.started_at, llm_calls.started_at) nulls last, tool_calls.seq
