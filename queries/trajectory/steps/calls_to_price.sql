-- What each LLM call is priced by; `priced_calls` comes from `queries/pricing`.
create or replace temp table calls_to_price as
select
    s::varchar as llm_call_id,
    provider,
    coalesce(request_model) as request_model,
    response_model,
    start_time as "at",
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    reasoning_tokens,
    input_audio_tokens,
    output_audio_tokens,
    service_tier
from batch_llm_calls;
