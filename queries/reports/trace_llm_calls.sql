-- The LLM calls of a run in the order in which they began.
select
    llm_call_id,
    agent_invocation_id,
    agent_name,
    seq,
    operation,
    provider,
    request_model,
    response_model,
    response_id,
    started_at,
    duration_s,
    time_to_first_chunk_s,
    status,
    error_type,
    error_message,
    finish_reason,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    reasoning_tokens,
    usage_basis,
    cost_usd,
    unpriced_reason
from llm_calls
where run_id = $run_id
order by started_at nulls last, seq
