-- The names to look up: for the calls in `calls_to_price`, each distinct (provider, request model, response model)
-- and every way its names may be spelt in a price list.
--
-- price_pairs: one row per distinct combination.
-- price_providers_named: the genai-prices id of each provider name, NULL when it names none (a framework, an unknown
-- gateway). kind is that of price_provider_aliases.
-- price_spellings: names of each pair. source_rank 1 is the response model, 2 the request model. form: the name as
-- it is, the rest after its first prefix (`anthropic/…`, `models/…`), or its last part (ARNs, resource paths).
-- is_base: a date or `latest` at its end was taken off. prefix_provider_id is the provider that the first prefix
-- names, if any. is_open: other price lists than provider_id's may hold the model, because no provider is known, or
-- it is a gateway or an OpenAI-compatible client that reaches others.

create or replace temp table price_pairs as
select row_number() over () as pair_id, provider, request_model, response_model, lower(trim(provider)) as provider_name
from (select distinct provider, request_model, response_model from calls_to_price);

create or replace temp table price_names as
select pair_id, source_rank, lower(trim(model)) as model
from (
    select pair_id, 1 as source_rank, response_model as model from price_pairs
    union all
    select pair_id, 2 as source_rank, request_model as model from price_pairs
)
where trim(model) <> '';

create or replace temp table price_providers_named as
with provider_names as (
    select provider_name as name from price_pairs where provider_name <> ''
    union
    select split_part(model, '/', 1) as name from price_names where contains(model, '/')
)
select
    provider_names.name,
    any_value(aliases.kind) as kind,
    case
        when any_value(aliases.kind) is null then arg_min(rules.provider_id, rules.ord)
        else any_value(aliases.provider_id)
    end as provider_id
from provider_names
left join price_provider_aliases as aliases on aliases.name = provider_names.name
left join price_provider_match as rules
    on rules.looks_at = 'provider'
    and name_passes(
        provider_names.name, rules.equals, rules.starts_with, rules.ends_with, rules.contains, rules.matches,
        rules.excludes
    )
group by provider_names.name;

create or replace temp table price_spellings as
with forms as (
    select pair_id, source_rank, model, 'whole' as form, model as spelling from price_names
    union all
    select pair_id, source_rank, model, 'rest' as form, substr(model, strpos(model, '/') + 1) as spelling
    from price_names
    where contains(model, '/')
    union all
    select pair_id, source_rank, model, 'last' as form, regexp_extract(model, '[^/]*$') as spelling
    from price_names
    where contains(model, '/')
),
undated as (
    select pair_id, source_rank, model, form, false as is_base, spelling from forms
    union all
    select pair_id, source_rank, model, form, true as is_base, base_name(spelling) as spelling
    from forms
    where base_name(spelling) <> spelling
),
respelt as (
    select pair_id, source_rank, model, form, is_base, false as is_redated, spelling from undated
    union all
    select pair_id, source_rank, model, form, is_base, true as is_redated, dashed_date(spelling) as spelling
    from undated
    where dashed_date(spelling) <> spelling
)
select
    respelt.pair_id,
    respelt.source_rank,
    respelt.form,
    respelt.is_base,
    respelt.is_redated,
    respelt.spelling,
    price_pairs.provider_name,
    callers.provider_id,
    prefixes.name as prefix_name,
    prefixes.provider_id as prefix_provider_id,
    coalesce(callers.kind = 'self_hosted' or prefixes.kind = 'self_hosted', false) as is_self_hosted,
    callers.provider_id is null or callers.provider_id in (
        select provider_id from price_provider_aliases where kind = 'gateway'
    ) as is_open
from respelt
join price_pairs using (pair_id)
left join price_providers_named as callers on callers.name = price_pairs.provider_name
left join price_providers_named as prefixes
    on contains(respelt.model, '/')
    and prefixes.name = split_part(respelt.model, '/', 1)
where respelt.spelling <> '';
