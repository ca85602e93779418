-- priced_calls: one row per call of `calls_to_price`: its cost [USD] at the prices of its own time, or why it has none.
--
-- cost_usd is input_cost_usd + output_cost_usd + a fee per request where the model has one. It is NULL when unknown,
-- with the reason in unpriced_reason, and 0 only when the model is free, an override says 0, or the call used no
-- tokens.
-- Reasons: no_model, unknown_model, self_hosted (add an override), no_price (listed without one), no_time, no_usage
-- (input or output tokens missing: half a usage must not look like a whole cost; models that bill no output, such as
-- embeddings, need none), inconsistent_usage (a part larger than the whole, or below zero), audio_cache_overlap
-- (cached audio has its own price, and how much of the cache was audio is unknown), no_token_price (tokens of a kind
-- the model has no price for).
-- price_provider_id and price_model_id name the price list entry even when the usage could not be priced.
-- price_valid_from is the first day of the prices used, NULL when undated; later than the call when history does not
-- reach back that far.

create or replace temp table priced_calls as
with calls as (
    select
        calls_at_moments.*,
        rates.* exclude (
            price_provider_id, price_model_id, override_provider_id, override_model_id, is_resold, service_tier, day,
            time_of_day
        ),
        coalesce(rates.is_override, false) as is_overridden,
        coalesce(calls_at_moments.output_tokens, 0) as counted_output_tokens,
        case when rates.cache_read_rate is null then 0 else cache_read_tokens end as billed_cache_read,
        case when rates.cache_write_1h_rate is null then 0 else cache_write_1h_tokens end as billed_cache_write_1h,
        case
            when rates.cache_write_rate is null then 0
            else cache_write_tokens - billed_cache_write_1h
        end as billed_cache_write,
        case when rates.input_audio_rate is null then 0 else input_audio_tokens end as billed_input_audio,
        case when rates.reasoning_rate is null then 0 else reasoning_tokens end as billed_reasoning,
        case when rates.output_audio_rate is null then 0 else output_audio_tokens end as billed_output_audio,
        input_tokens - billed_cache_read - billed_cache_write - billed_cache_write_1h - billed_input_audio
            as plain_input,
        counted_output_tokens - billed_reasoning - billed_output_audio as plain_output
    from calls_at_moments
    left join moment_rates as rates
        on rates.price_provider_id is not distinct from calls_at_moments.price_provider_id
        and rates.price_model_id is not distinct from calls_at_moments.price_model_id
        and rates.override_provider_id is not distinct from calls_at_moments.override_provider_id
        and rates.override_model_id is not distinct from calls_at_moments.override_model_id
        and rates.is_resold = calls_at_moments.is_resold
        and rates.service_tier is not distinct from calls_at_moments.service_tier
        and rates.day is not distinct from calls_at_moments.day
        and rates.time_of_day is not distinct from calls_at_moments.time_of_day
        and greatest(coalesce(calls_at_moments.input_tokens, 0), 0) > rates.above_tokens
        and greatest(coalesce(calls_at_moments.input_tokens, 0), 0) <= rates.up_to_tokens
),
judged as (
    select
        *,
        case
            when not is_overridden and unpriced_reason is not null then unpriced_reason
            when day is null then 'no_time'
            when not is_free and coalesce(input_rate, output_rate, requests_rate) is null then 'no_price'
            when input_tokens is null then 'no_usage'
            when output_tokens is null and (is_free or output_rate is not null) then 'no_usage'
            when
                least(
                    input_tokens - cache_read_tokens - cache_write_tokens,
                    input_tokens - input_audio_tokens,
                    cache_write_tokens - cache_write_1h_tokens,
                    counted_output_tokens - reasoning_tokens,
                    counted_output_tokens - output_audio_tokens,
                    cache_read_tokens, cache_write_1h_tokens, reasoning_tokens, input_audio_tokens, output_audio_tokens
                ) < 0
                then 'inconsistent_usage'
            when cache_audio_read_rate is not null and cache_read_tokens > 0 and input_audio_tokens > 0
                then 'audio_cache_overlap'
            when plain_input < 0 or plain_output < 0 then 'inconsistent_usage'
            when not is_free and plain_input > 0 and input_rate is null then 'no_token_price'
            when not is_free and plain_output > 0 and output_rate is null then 'no_token_price'
        end as reason,
        (
            coalesce(plain_input * input_rate, 0)
            + coalesce(billed_cache_read * cache_read_rate, 0)
            + coalesce(billed_cache_write * cache_write_rate, 0)
            + coalesce(billed_cache_write_1h * cache_write_1h_rate, 0)
            + coalesce(billed_input_audio * input_audio_rate, 0)
        ) / 1e6 as input_usd,
        (
            coalesce(plain_output * output_rate, 0)
            + coalesce(billed_reasoning * reasoning_rate, 0)
            + coalesce(billed_output_audio * output_audio_rate, 0)
        ) / 1e6 as output_usd
    from calls
)
select
    llm_call_id,
    case when reason is null then input_usd + output_usd + coalesce(requests_rate, 0) / 1e3 end as cost_usd,
    case when reason is null then input_usd end as input_cost_usd,
    case when reason is null then output_usd end as output_cost_usd,
    case when is_overridden then override_provider_id else price_provider_id end as price_provider_id,
    case when is_overridden then override_model_id else price_model_id end as price_model_id,
    case when is_overridden then override_matched_by else matched_by end as price_matched_by,
    valid_from as price_valid_from,
    reason as unpriced_reason
from judged;
