-- The price tables of a store: the shipped snapshot of genai-prices and the user's overrides, replaced as a whole when
-- either changes. `model_prices` is part of the public SQL API; the rest serve to find a model in it.

create or replace table model_prices (
    source varchar not null,
    provider_id varchar,
    model_id varchar not null,
    seq integer not null,
    variant varchar,
    valid_from date,
    tod_start time,
    tod_end time,
    price_key varchar,
    usd_base double,
    tiers struct(above_tokens bigint, usd double)[]
);
comment on table model_prices is 'What models cost. A call is priced by the last price set (seq) that applies at its own time in UTC; rows of source override win over rows of source snapshot.';
comment on column model_prices.source is 'snapshot (shipped with spanscore, from genai-prices) or override (from your own prices file).';
comment on column model_prices.provider_id is 'Provider id of genai-prices; in an override the provider you named, NULL for any.';
comment on column model_prices.model_id is 'Model id of genai-prices; in an override the model name you gave, lower case.';
comment on column model_prices.seq is 'Order of the price sets of a model and of its variants, from 0; the last that applies is used, set 0 when none does.';
comment on column model_prices.variant is 'Request condition whose prices replace the standard ones, such as service_tier=flex or processing=batch; NULL is standard.';
comment on column model_prices.valid_from is 'First day [UTC] the price set applies; NULL is any day.';
comment on column model_prices.tod_start is 'Time of day [UTC] from which the price set applies; NULL is all day.';
comment on column model_prices.tod_end is 'Time of day [UTC] before which the price set applies; earlier than tod_start when it crosses midnight.';
comment on column model_prices.price_key is 'What is priced: *_mtok per million tokens, *_kcount per thousand; NULL when the model is listed without a price.';
comment on column model_prices.usd_base is 'Price [USD per million or thousand, see price_key] below the first tier.';
comment on column model_prices.tiers is 'Prices [USD] of a whole call whose input tokens, cached ones included, are above above_tokens; lowest first.';

create or replace table price_model_match (
    provider_id varchar not null,
    ord integer not null,
    price_provider_id varchar not null,
    model_id varchar not null,
    equals varchar,
    starts_with varchar,
    ends_with varchar,
    contains varchar[],
    matches varchar,
    excludes varchar
);
comment on table price_model_match is 'Names a model of a provider goes by: the row with the lowest ord whose tests all hold for the lower-case name. price_provider_id owns the price list, another provider than provider_id where one resells.';

create or replace table price_provider_match (
    looks_at varchar not null,
    ord integer not null,
    provider_id varchar not null,
    equals varchar,
    starts_with varchar,
    ends_with varchar,
    contains varchar[],
    matches varchar,
    excludes varchar
);
comment on table price_provider_match is 'How a provider is known: looks_at provider tests the provider name of a call, looks_at model its model name; the lowest ord wins.';

create or replace table price_provider_aliases (
    name varchar not null,
    kind varchar not null,
    provider_id varchar
);
comment on table price_provider_aliases is 'Provider names found in traces. kind: provider (means provider_id), gateway (provider_id, but its clients reach other providers too), framework (names no provider: price by model name), self_hosted (no list price exists).';

create or replace table price_snapshot (
    source varchar not null,
    source_version varchar not null,
    snapshot_date date not null,
    overrides integer not null,
    fingerprint varchar not null,
    installed_at timestamp not null
);
comment on table price_snapshot is 'Which prices the store holds: one row.';
comment on column price_snapshot.overrides is 'Rows of model_prices that come from your own prices file [count].';
comment on column price_snapshot.fingerprint is 'SHA-256 over the shipped files and the overrides; prices are installed again when it differs.';
comment on column price_snapshot.installed_at is 'When the prices were installed [UTC].';
