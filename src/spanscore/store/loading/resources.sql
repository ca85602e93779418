-- The resources and scopes of one batch, each with the id its content gives it: equal content is one row in any batch.

create or replace temp table batch_resources as
select
    resource_index,
    md5(
        struct_pack(
            attributes := list_sort(coalesce(attributes, [])),
            dropped_attributes_count := coalesce(dropped_attributes_count, 0),
            entity_refs := entity_refs,
            schema_url := nullif(schema_url, '')
        )::json::varchar
    ) as resource_id,
    attribute_map(attributes) as attributes,
    coalesce(dropped_attributes_count, 0) as dropped_attributes_count,
    entity_refs::json as entity_refs,
    nullif(schema_url, '') as schema_url
from arrow_resources;

create or replace temp table batch_scopes as
select
    scope_index,
    md5(
        struct_pack(
            name := coalesce(name, ''),
            version := nullif(version, ''),
            attributes := list_sort(coalesce(attributes, [])),
            dropped_attributes_count := coalesce(dropped_attributes_count, 0),
            schema_url := nullif(schema_url, '')
        )::json::varchar
    ) as scope_id,
    coalesce(name, '') as name,
    nullif(version, '') as version,
    attribute_map(attributes) as attributes,
    coalesce(dropped_attributes_count, 0) as dropped_attributes_count,
    nullif(schema_url, '') as schema_url
from arrow_scopes;

insert into resources by name
select distinct on (resource_id)
    resource_id,
    attributes,
    dropped_attributes_count,
    entity_refs,
    schema_url
from batch_resources
anti join resources using (resource_id);

insert into scopes by name
select distinct on (scope_id)
    scope_id,
    name,
    version,
    attributes,
    dropped_attributes_count,
    schema_url
from batch_scopes
anti join scopes using (scope_id);
