-- Tool calls of a run that a model asked for and that nothing ran.
select
    tool_call_id,
    agent_invocation_id,
    agent_name,
    llm_call_id,
    seq,
    tool_name,
    arguments::varchar as arguments,
    outcome,
    response,
    started_at,
    is_handoff
from tool_requests
where run_id = $run_id
order by started_at nulls last, seq
