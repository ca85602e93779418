-- What each provider call is made of. Cached tokens are brought to one basis: part of the input.
create or replace temp table batch_llm_calls as
with facts as (
    select
        llm_spans.s,
        llm_spans.wrapper,
        llm_spans.outer_wrapper,
        batch_spans.trace_id,
        batch_spans.span_id,
        batch_spans.name,
        batch_spans.start_ns,
        batch_spans.start_time,
        batch_spans.duration_ns,
        batch_spans.status_code,
        batch_spans.status_message,
        batch_spans.scope_name,
        batch_spans.service_name,
        span_class.convention,
        inner_facts.operation,
        coalesce(inner_facts.provider, outer_facts.provider) as provider,
        coalesce(inner_facts.provider_hint, outer_facts.provider_hint) as provider_hint,
        coalesce(inner_facts.request_model, outer_facts.request_model) as request_model,
        coalesce(inner_facts.response_model, outer_facts.response_model) as response_model,
        coalesce(inner_facts.response_id, outer_facts.response_id) as response_id,
        as_tokens(coalesce(inner_facts.input_tokens,
            case when inner_facts.exclusive_input_tokens is null then outer_facts.input_tokens end)) as input_tokens,
        as_tokens(inner_facts.exclusive_input_tokens) as exclusive_input_tokens,
        as_tokens(coalesce(inner_facts.output_tokens, outer_facts.output_tokens)) as output_tokens,
        as_tokens(coalesce(inner_facts.cache_read_tokens, outer_facts.cache_read_tokens)) as cache_read_tokens,
        as_tokens(coalesce(inner_facts.cache_write_tokens, outer_facts.cache_write_tokens)) as cache_write_tokens,
        as_tokens(coalesce(inner_facts.cache_write_1h_tokens, outer_facts.cache_write_1h_tokens)) as cache_write_1h_tokens,
        as_tokens(coalesce(inner_facts.reasoning_tokens, outer_facts.reasoning_tokens)) as reasoning_tokens,
        as_tokens(inner_facts.input_audio_tokens) as input_audio_tokens,
        as_tokens(inner_facts.output_audio_tokens) as output_audio_tokens,
        as_tokens(coalesce(inner_facts.total_tokens, outer_facts.total_tokens)) as total_tokens,
        coalesce(inner_facts.service_tier, outer_facts.service_tier) as service_tier,
        as_amount(coalesce(inner_facts.cost_reported_usd, outer_facts.cost_reported_usd)) as cost_reported_usd,
        coalesce(
            as_amount(coalesce(inner_facts.time_to_first_chunk_s, outer_facts.time_to_first_chunk_s)),
            as_amount((epoch_ns(try_cast(inner_facts.first_chunk_at as timestamptz)) - batch_spans.start_ns::hugeint) / 1e9)
        ) as time_to_first_chunk_s,
        coalesce(inner_facts.finish_reason, outer_facts.finish_reason) as finish_reason,
        coalesce(inner_facts.error_type, span_exceptions.exception_type) as error_type,
        coalesce(inner_facts.error_message, span_exceptions.exception_message) as error_message,
        span_exceptions.s is not null as has_exception
    from llm_spans
    inner join batch_spans using (s)
    inner join span_class using (s)
    inner join span_facts as inner_facts using (s)
    left join span_facts as outer_facts on outer_facts.s = llm_spans.wrapper
    left join span_exceptions on span_exceptions.s = llm_spans.s
),
based as (
    select
        * replace (
            -- No call reads nothing and says nothing: zeros for both are an emitter's way to say that it does not know.
            case when input_tokens = 0 and coalesce(output_tokens, 0) = 0 then null else input_tokens end as input_tokens,
            case when input_tokens = 0 and output_tokens = 0 then null else output_tokens end as output_tokens,
            case when input_tokens = 0 and coalesce(output_tokens, 0) = 0 then null else cache_read_tokens end as cache_read_tokens,
            case when input_tokens = 0 and coalesce(output_tokens, 0) = 0 then null else cache_write_tokens end as cache_write_tokens,
            case when input_tokens = 0 and coalesce(output_tokens, 0) = 0 then null else reasoning_tokens end as reasoning_tokens
        ),
        coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as cached,
        case
            when input_tokens is null and exclusive_input_tokens is not null then 'exclusive_fixed'
            when input_tokens is null then null
            when cached > 0 and total_tokens = input_tokens + output_tokens + cached then 'exclusive_fixed'
            when total_tokens = input_tokens + output_tokens then 'inclusive'
            when cached > input_tokens then 'exclusive_fixed'
            when cached = 0 then 'inclusive'
            else 'assumed'
        end as usage_basis
    from facts
)
select
    based.* exclude (input_tokens, output_tokens, exclusive_input_tokens, finish_reason),
    span_agents.run_id,
    span_agents.a,
    span_agents.named,
    case
        when usage_basis = 'exclusive_fixed' then coalesce(input_tokens, exclusive_input_tokens) + cached
        else input_tokens
    end as input_tokens,
    case
        when reasoning_tokens > output_tokens or total_tokens = input_tokens + output_tokens + nullif(reasoning_tokens, 0)
            then output_tokens + reasoning_tokens
        else output_tokens
    end as output_tokens,
    coalesce(
        finish_word(finish_reason),
        (select finish_word(any_value(event_messages.finish_reason)) from event_messages
        where event_messages.s = based.s and event_messages.direction = 'output')
    ) as finish_reason,
    case
        when status_code = 2 or (has_exception and status_code <> 1)
            or (based.error_type is not null and status_code <> 1) then 'error'
        when has_exception and usage_basis is null then 'error'
        else 'ok'
    end as status,
    false as is_transcript
from based
inner join span_agents using (s);

-- Columns that are NULL because what came for them was none of their values; of a call and of the span around it.
create or replace temp table unusable_columns as
with named as (
    select
        s,
        case column_name
            when 'exclusive_input_tokens' then 'input_tokens'
            when 'cache_write_1h_tokens' then 'cache_write_tokens'
            else column_name
        end as column_name
    from unusable_values
),
told as (
    select batch_llm_calls.s, named.column_name
    from batch_llm_calls
    inner join named on named.s = batch_llm_calls.s
    union
    select batch_llm_calls.s, named.column_name
    from batch_llm_calls
    inner join named on named.s = batch_llm_calls.wrapper
)
select told.s, list(told.column_name order by told.column_name) as columns
from told
inner join batch_llm_calls using (s)
where case told.column_name
    when 'input_tokens' then input_tokens is null
    when 'output_tokens' then output_tokens is null
    when 'cache_read_tokens' then cache_read_tokens is null
    when 'cache_write_tokens' then cache_write_tokens is null
    when 'reasoning_tokens' then reasoning_tokens is null
    when 'cost_reported_usd' then cost_reported_usd is null
    when 'time_to_first_chunk_s' then time_to_first_chunk_s is null
    else false
end
group by told.s;
