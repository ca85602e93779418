-- moment_rates: what tokens cost at each of `price_moments`, one row per context tier.
--
-- The rates hold for calls whose input tokens, cached ones included, are above `above_tokens` and at most
-- `up_to_tokens`: crossing a tier re-prices the whole call. Rates are USD per million tokens, requests_rate USD per
-- thousand requests. NULL: this part has no price of its own and is charged as the part that contains it. A model
-- listed without a price, or only in units that no span reports (audio hours, pages, characters), has no rate at
-- all. is_free: listed without a price and `free` in its id.

create or replace temp table moment_rates as
with tier_starts as (
    select moment_id, -1::bigint as above_tokens from moment_prices
    union
    select moment_id, unnest(tiers).above_tokens as above_tokens from moment_prices
),
context_tiers as (
    select
        moment_id,
        above_tokens,
        lead(above_tokens, 1, 9223372036854775807) over (partition by moment_id order by above_tokens) as up_to_tokens
    from tier_starts
),
rates as (
    select
        context_tiers.moment_id,
        context_tiers.above_tokens,
        context_tiers.up_to_tokens,
        prices.is_override,
        prices.valid_from,
        prices.price_key,
        coalesce(
            list_filter(prices.tiers, lambda tier: tier.above_tokens <= context_tiers.above_tokens)[-1].usd,
            prices.usd_base
        ) as usd
    from context_tiers
    join moment_prices as prices using (moment_id)
),
by_part as (
    select
        moment_id,
        above_tokens,
        up_to_tokens,
        bool_or(is_override) as is_override,
        max(valid_from) as valid_from,
        max(usd) filter (where price_key = 'input_mtok') as input_rate,
        max(usd) filter (where price_key = 'cache_read_mtok') as cache_read_rate,
        max(usd) filter (where price_key = 'cache_write_mtok') as cache_write_rate,
        max(usd) filter (where price_key = 'cache_write_1h_mtok') as cache_write_1h_rate,
        max(usd) filter (where price_key = 'input_audio_mtok') as input_audio_rate,
        max(usd) filter (where price_key = 'cache_audio_read_mtok') as cache_audio_read_rate,
        max(usd) filter (where price_key = 'output_mtok') as output_rate,
        max(usd) filter (where price_key = 'output_reasoning_mtok') as reasoning_rate,
        max(usd) filter (where price_key = 'output_audio_mtok') as output_audio_rate,
        max(usd) filter (where price_key = 'requests_kcount') as requests_rate,
        bool_and(price_key is null) as is_listed_without_price
    from rates
    group by moment_id, above_tokens, up_to_tokens
)
select
    moments.*,
    by_part.* exclude (moment_id, is_listed_without_price),
    by_part.is_listed_without_price
    and not by_part.is_override
    and regexp_matches(moments.price_model_id, '(^|[^a-z])free([^a-z]|$)') as is_free
from price_moments as moments
join by_part using (moment_id);
