-- The price list: one row per model and its prices on $day [USD per million tokens], the shortest context and
-- standard tier. A NULL price: this part is charged as the part that contains it; without any price the model is
-- listed but not priced.
-- tier_above_tokens: input tokens above which the model costs more; offpeak: it has other prices at times of the day.
-- service_tiers: request conditions with prices of their own. $provider and $model match a part of an id; NULL is any.
with listed as (
    select *, coalesce(valid_from <= $day::date, true) and tod_start is null as is_active
    from model_prices
    where
        ($provider::varchar is null or contains(coalesce(provider_id, ''), lower($provider::varchar)))
        and ($model::varchar is null or contains(lower(model_id), lower($model::varchar)))
),
sets as (
    select source, provider_id, model_id, coalesce(max(seq) filter (where is_active), min(seq)) as seq
    from listed
    where variant is null
    group by source, provider_id, model_id
),
features as (
    select
        source,
        provider_id,
        model_id,
        bool_or(tod_start is not null) as offpeak,
        list_sort(list(distinct variant) filter (where variant is not null)) as service_tiers
    from listed
    group by source, provider_id, model_id
)
select
    sets.source,
    sets.provider_id,
    sets.model_id,
    max(listed.valid_from) as valid_from,
    max(usd_base) filter (where price_key = 'input_mtok') as input_mtok,
    max(usd_base) filter (where price_key = 'output_mtok') as output_mtok,
    max(usd_base) filter (where price_key = 'cache_read_mtok') as cache_read_mtok,
    max(usd_base) filter (where price_key = 'cache_write_mtok') as cache_write_mtok,
    max(usd_base) filter (where price_key = 'cache_write_1h_mtok') as cache_write_1h_mtok,
    max(usd_base) filter (where price_key = 'output_reasoning_mtok') as output_reasoning_mtok,
    max(usd_base) filter (where price_key = 'input_audio_mtok') as input_audio_mtok,
    max(usd_base) filter (where price_key = 'output_audio_mtok') as output_audio_mtok,
    max(usd_base) filter (where price_key = 'requests_kcount') as requests_kcount,
    min(tiers[1].above_tokens) as tier_above_tokens,
    any_value(features.offpeak) as offpeak,
    any_value(features.service_tiers) as service_tiers
from sets
join listed
    on listed.source = sets.source
    and listed.provider_id is not distinct from sets.provider_id
    and listed.model_id = sets.model_id
    and listed.seq = sets.seq
    and listed.variant is null
join features
    on features.source = sets.source
    and features.provider_id is not distinct from sets.provider_id
    and features.model_id = sets.model_id
group by sets.source, sets.provider_id, sets.model_id
order by sets.source, sets.provider_id nulls first, sets.model_id
