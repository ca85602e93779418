-- price_moments: each distinct (price list entry, UTC day, service tier) of `calls_at_moments`, and
-- moment_prices: the prices in force at it, one row per price key.
--
-- Of a model's dated price sets the last that applies is used, and the first where none does yet: history begins in
-- May 2025, older costs are approximations. A service tier (flex, priority, batch, fast) replaces the prices it
-- lists; one the price list does not know costs the standard price. Resold models (OpenAI's on Azure) have no
-- service tiers. A user's override in force that day replaces the whole entry.
--
-- price_key is NULL for a model listed without a price. A moment without rows belongs to no listed model.

create or replace temp table price_moments as
select
    row_number() over () as moment_id,
    price_provider_id,
    price_model_id,
    override_provider_id,
    override_model_id,
    is_resold,
    service_tier,
    day,
    time_of_day
from (
    select distinct
        price_provider_id,
        price_model_id,
        override_provider_id,
        override_model_id,
        is_resold,
        service_tier,
        day,
        time_of_day
    from calls_at_moments
);

create or replace temp table moment_prices as
with listed as (
    select
        moments.moment_id,
        prices.seq,
        prices.variant,
        prices.valid_from,
        prices.price_key,
        prices.usd_base,
        prices.tiers,
        coalesce(prices.valid_from <= moments.day, true)
        and case
            when prices.tod_start is null then true
            when prices.tod_end < prices.tod_start
                then moments.time_of_day >= prices.tod_start or moments.time_of_day < prices.tod_end
            else moments.time_of_day >= prices.tod_start and moments.time_of_day < prices.tod_end
        end as is_active
    from price_moments as moments
    join model_prices as prices
        on prices.source = 'snapshot'
        and prices.provider_id = moments.price_provider_id
        and prices.model_id = moments.price_model_id
    where
        prices.variant is null
        or (
            not moments.is_resold
            and prices.variant in (
                'service_tier=' || moments.service_tier,
                case moments.service_tier when 'batch' then 'processing=batch' when 'fast' then 'speed=fast' end
            )
        )
),
standard_sets as (
    select moment_id, coalesce(max(seq) filter (where is_active), min(seq)) as seq
    from listed
    where variant is null
    group by moment_id
),
override_sets as (
    select moments.moment_id, moments.override_provider_id, moments.override_model_id, max(prices.seq) as seq
    from price_moments as moments
    join model_prices as prices
        on prices.source = 'override'
        and prices.provider_id is not distinct from moments.override_provider_id
        and prices.model_id = moments.override_model_id
        and coalesce(prices.valid_from <= moments.day, true)
    group by moments.moment_id, moments.override_provider_id, moments.override_model_id
),
chosen as (
    select
        listed.moment_id,
        false as is_override,
        listed.price_key,
        arg_min(listed, (listed.variant is null, listed.seq)) as price,
        any_value(listed.valid_from) filter (where listed.variant is null) as valid_from
    from listed
    join standard_sets using (moment_id)
    where
        moment_id not in (select moment_id from override_sets)
        and case when listed.variant is null then listed.seq = standard_sets.seq else listed.is_active end
    group by listed.moment_id, listed.price_key
)
select moment_id, is_override, price_key, price.usd_base as usd_base, price.tiers as tiers, valid_from from chosen
union all
select override_sets.moment_id, true, prices.price_key, prices.usd_base, prices.tiers, prices.valid_from
from override_sets
join model_prices as prices
    on prices.source = 'override'
    and prices.provider_id is not distinct from override_sets.override_provider_id
    and prices.model_id = override_sets.override_model_id
    and prices.seq = override_sets.seq;
