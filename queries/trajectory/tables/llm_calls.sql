create table if not exists llm_calls (
    llm_call_id varchar,
    run_id varchar,
    trace_id varchar,
    agent_invocation_id varchar,
    agent_name varchar,
    seq integer,
    operation varchar,
    provider varchar,
    request_model varchar,
    response_model varchar,
    response_id varchar,
    started_at timestamp_ns,
    duration_s double,
    time_to_first_chunk_s double,
    status varchar,
    error_type varchar,
    error_message varchar,
    finish_reason varchar,
    input_tokens bigint,
    output_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    reasoning_tokens bigint,
    usage_basis varchar,
    service_tier varchar,
    cost_usd double,
    input_cost_usd double,
    output_cost_usd double,
    price_model_id varchar,
    unpriced_reason varchar,
    cost_reported_usd double,
    source varchar,
    unusable_columns varchar[]
);

comment on table llm_calls is 'One row per provider call, however many instrumentations traced it.';
comment on column llm_calls.llm_call_id is 'Span id of the call';
comment on column llm_calls.run_id is 'Run';
comment on column llm_calls.trace_id is 'Trace';
comment on column llm_calls.agent_invocation_id is 'Agent invocation that made the call';
comment on column llm_calls.agent_name is 'Agent that made the call';
comment on column llm_calls.seq is 'Order in the run, by start: 1, 2, …';
comment on column llm_calls.operation is 'chat, text_completion or generate_content';
comment on column llm_calls.provider is 'Provider as the emitter names it; NULL where it names a framework';
comment on column llm_calls.request_model is 'Model that was asked for';
comment on column llm_calls.response_model is 'Model that answered';
comment on column llm_calls.response_id is 'Provider''s id of the response';
comment on column llm_calls.started_at is 'Start [UTC]';
comment on column llm_calls.duration_s is 'End minus start [s]';
comment on column llm_calls.time_to_first_chunk_s is 'Until the first chunk of a streamed answer [s]';
comment on column llm_calls.status is 'ok or error';
comment on column llm_calls.error_type is 'Error of the call';
comment on column llm_calls.error_message is 'The error''s own words';
comment on column llm_calls.finish_reason is 'stop, length, tool_calls, content_filter, error, or the provider''s own word';
comment on column llm_calls.input_tokens is 'Input tokens, cached ones included [tokens]; NULL when not reported, or not as a count that can be';
comment on column llm_calls.output_tokens is 'Output tokens, reasoning included [tokens]; NULL when not reported, or not as a count that can be';
comment on column llm_calls.cache_read_tokens is 'Part of input_tokens read from a cache [tokens]';
comment on column llm_calls.cache_write_tokens is 'Part of input_tokens written to a cache [tokens]';
comment on column llm_calls.reasoning_tokens is 'Part of output_tokens spent on reasoning [tokens]';
comment on column llm_calls.usage_basis is 'inclusive (the emitter counts cached tokens as input), exclusive_fixed (it does not; they were added), assumed';
comment on column llm_calls.service_tier is 'Service tier, where prices depend on it';
comment on column llm_calls.cost_usd is 'Price of the call at its own time [USD]; NULL when the price is not known';
comment on column llm_calls.input_cost_usd is 'Part of cost_usd for input [USD]';
comment on column llm_calls.output_cost_usd is 'Part of cost_usd for output [USD]';
comment on column llm_calls.price_model_id is 'Model of the price table that the price was taken from';
comment on column llm_calls.unpriced_reason is 'Why cost_usd is NULL';
comment on column llm_calls.cost_reported_usd is 'Cost that the emitter wrote down [USD]';
comment on column llm_calls.source is 'span, or transcript: the call is known from a record of the conversation only';
comment on column llm_calls.unusable_columns is 'Columns that are NULL though a value came: it was below 0, too large or no number; NULL when there are none';
