-- calls_at_moments: each call of `calls_to_price` with the price list entry of its models, its UTC day and its counts.
--
-- Counts are inclusive: input tokens contain cached and audio ones, output tokens contain reasoning and audio ones.
-- A part that was not reported counts as none of it, so a call whose cache reads went unreported comes out too dear.
-- Cache writes given only for the one-hour cache are the cache writes. time_of_day is NULL where the model has no
-- off-peak hours: then all calls of a day cost the same, and few moments have to be priced.
-- Counts are HUGEINT, so that no number a trace may hold overflows when parts are subtracted.

create or replace temp table calls_at_moments as
with offpeak_models as (
    select distinct provider_id, model_id from model_prices where tod_start is not null
)
select
    calls.llm_call_id,
    map.price_provider_id,
    map.price_model_id,
    map.override_provider_id,
    map.override_model_id,
    map.override_matched_by,
    map.is_resold,
    map.matched_by,
    map.unpriced_reason,
    nullif(lower(trim(calls.service_tier)), '') as service_tier,
    calls.at::date as day,
    case when offpeak_models.model_id is not null then calls.at::time end as time_of_day,
    calls.input_tokens::hugeint as input_tokens,
    calls.output_tokens::hugeint as output_tokens,
    coalesce(calls.cache_read_tokens, 0)::hugeint as cache_read_tokens,
    coalesce(calls.cache_write_tokens, calls.cache_write_1h_tokens, 0)::hugeint as cache_write_tokens,
    coalesce(calls.cache_write_1h_tokens, 0)::hugeint as cache_write_1h_tokens,
    coalesce(calls.reasoning_tokens, 0)::hugeint as reasoning_tokens,
    coalesce(calls.input_audio_tokens, 0)::hugeint as input_audio_tokens,
    coalesce(calls.output_audio_tokens, 0)::hugeint as output_audio_tokens
from calls_to_price as calls
join model_price_map as map
    on map.provider is not distinct from calls.provider
    and map.request_model is not distinct from calls.request_model
    and map.response_model is not distinct from calls.response_model
left join offpeak_models
    on offpeak_models.provider_id = map.price_provider_id
    and offpeak_models.model_id = map.price_model_id;
