-- How the one call in `priced_calls` is priced: what it was matched to and the rates [USD per million tokens] below
-- the first context tier. Rates are NULL where the part has no price of its own; unpriced_reason tells why nothing
-- is priced.
select
    priced.price_provider_id,
    priced.price_model_id,
    priced.price_matched_by,
    priced.price_valid_from,
    rates.input_rate as input_mtok,
    rates.output_rate as output_mtok,
    rates.cache_read_rate as cache_read_mtok,
    rates.cache_write_rate as cache_write_mtok,
    rates.cache_write_1h_rate as cache_write_1h_mtok,
    rates.reasoning_rate as output_reasoning_mtok,
    rates.input_audio_rate as input_audio_mtok,
    rates.output_audio_rate as output_audio_mtok,
    rates.requests_rate as requests_kcount,
    nullif(rates.up_to_tokens, 9223372036854775807) as tier_above_tokens,
    coalesce(rates.is_free, false) as is_free,
    priced.unpriced_reason
from priced_calls as priced
left join moment_rates as rates on rates.above_tokens = -1
