-- The agent invocations of a run in the order in which they began.
select
    agent_invocation_id,
    parent_agent_invocation_id,
    agent_name,
    caller_kind,
    depth,
    seq,
    started_at,
    duration_s,
    status,
    error_type,
    llm_calls,
    tool_calls,
    input_tokens,
    output_tokens,
    cost_usd
from agent_invocations
where run_id = $run_id
order by started_at nulls last, seq
