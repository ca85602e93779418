-- model_price_map: the price list entry of each distinct (provider, request model, response model) of `calls_to_price`.
--
-- The response model is tried in every way before the request model is. A spelling is looked up in the list of the
-- provider the call names. Where none is known, or it is a gateway or an OpenAI-compatible client, it is also looked
-- up in the list of the provider its own prefix names, then of the provider the name alone gives away. All of it
-- with the name as given, and last without the date at its end.
--
-- matched_by: provider, model_prefix, model, or base_name. price_model_id is NULL with a reason: no_model (no name
-- at all), self_hosted (no list price exists for a server of one's own), unknown_model.
-- override_provider_id, override_model_id: the user's own price, which may exist where the snapshot knows nothing;
-- it is looked up by every spelling, then by the model id that was found. override_matched_by: override,
-- override_base_name.
-- Do not trust `model` blindly: who served the call is not known, and the price of the model's own maker stands in.

create or replace temp table model_price_map as
with spellings as (select distinct spelling from price_spellings),
telling_providers as (
    select spellings.spelling, arg_min(rules.provider_id, rules.ord) as provider_id
    from spellings
    join price_provider_match as rules
        on rules.looks_at = 'model'
        and name_passes(
            spellings.spelling, rules.equals, rules.starts_with, rules.ends_with, rules.contains, rules.matches,
            rules.excludes
        )
    group by spellings.spelling
),
attempts as (
    select pair_id, source_rank, is_base, 1 as place_rank, form, is_redated, provider_id, spelling
    from price_spellings
    where not is_self_hosted and provider_id is not null
    union all
    select pair_id, source_rank, is_base, 2 as place_rank, form, is_redated, prefix_provider_id as provider_id, spelling
    from price_spellings
    where not is_self_hosted and is_open and prefix_provider_id is not null and form = 'rest'
    union all
    select pair_id, source_rank, is_base, 3 as place_rank, form, is_redated, telling_providers.provider_id, spelling
    from price_spellings
    join telling_providers using (spelling)
    where not is_self_hosted and is_open
),
lookups as (select distinct provider_id, spelling from attempts),
entries as (
    select lookups.provider_id, lookups.spelling, rules.ord, rules.price_provider_id, rules.model_id
    from lookups
    join price_model_match as rules on rules.provider_id = lookups.provider_id and rules.equals = lookups.spelling
    union all
    select lookups.provider_id, lookups.spelling, rules.ord, rules.price_provider_id, rules.model_id
    from lookups
    join price_model_match as rules
        on rules.provider_id = lookups.provider_id
        and rules.equals is null
        and name_passes(
            lookups.spelling, null, rules.starts_with, rules.ends_with, rules.contains, rules.matches, rules.excludes
        )
),
first_entries as (
    select
        provider_id,
        spelling,
        arg_min(price_provider_id, ord) as price_provider_id,
        arg_min(model_id, ord) as price_model_id
    from entries
    group by provider_id, spelling
),
found as (
    select
        attempts.pair_id,
        arg_min(
            struct_pack(
                provider_id := provider_id,
                price_provider_id := first_entries.price_provider_id,
                price_model_id := first_entries.price_model_id,
                matched_by := case
                    when attempts.is_base then 'base_name'
                    else list_extract(['provider', 'model_prefix', 'model'], attempts.place_rank)
                end
            ),
            (
                attempts.source_rank, attempts.is_base, attempts.place_rank,
                list_position(['whole', 'rest', 'last'], attempts.form), attempts.is_redated
            )
        ) as entry
    from attempts
    join first_entries using (provider_id, spelling)
    -- A `:free` offer must not fall to the price of the model it is an offer of.
    where not ends_with(spelling, ':free') or ends_with(first_entries.price_model_id, ':free')
    group by attempts.pair_id
),
overrides as (
    select distinct provider_id, model_id from model_prices where source = 'override'
),
override_names as (
    select pair_id, source_rank, is_base, list_position(['whole', 'rest', 'last'], form) as form_rank, spelling as name,
        [provider_name, provider_id, prefix_name, prefix_provider_id] as providers
    from price_spellings
    union all
    select found.pair_id, 3 as source_rank, entry.matched_by = 'base_name' as is_base, 1 as form_rank,
        entry.price_model_id as name,
        [price_pairs.provider_name, entry.provider_id, entry.price_provider_id] as providers
    from found
    join price_pairs using (pair_id)
),
overridden as (
    select
        override_names.pair_id,
        arg_min(
            struct_pack(
                provider_id := overrides.provider_id, model_id := overrides.model_id, is_base := override_names.is_base
            ),
            (source_rank = 3, is_base, source_rank, overrides.provider_id is null, form_rank)
        ) as entry
    from override_names
    join overrides
        on overrides.model_id = override_names.name
        and (overrides.provider_id is null or list_contains(override_names.providers, overrides.provider_id))
    group by override_names.pair_id
),
hosting as (
    select pair_id, bool_or(is_self_hosted) as is_self_hosted from price_spellings group by pair_id
)
select
    price_pairs.provider,
    price_pairs.request_model,
    price_pairs.response_model,
    found.entry.price_provider_id as price_provider_id,
    found.entry.price_model_id as price_model_id,
    found.entry.matched_by as matched_by,
    coalesce(found.entry.provider_id <> found.entry.price_provider_id, false) as is_resold,
    overridden.entry.provider_id as override_provider_id,
    overridden.entry.model_id as override_model_id,
    case when overridden.entry.is_base then 'override_base_name' else 'override' end as override_matched_by,
    case
        when hosting.pair_id is null then 'no_model'
        when found.entry is not null then null
        when hosting.is_self_hosted then 'self_hosted'
        else 'unknown_model'
    end as unpriced_reason
from price_pairs
left join found using (pair_id)
left join overridden using (pair_id)
left join hosting using (pair_id);
