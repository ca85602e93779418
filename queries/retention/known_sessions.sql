-- Those of `$sessions` that a run has, or that a span or log record names in an attribute of `attribute_map`.
with session_keys as (
    select distinct key
    from attribute_map
    where column_name in ('session_id', 'conversation_id')
        and coalesce(path, '$') = '$'
),
attributed as (
    select unnest(map_entries(attributes)) as entry
    from all_spans
    union all
    select unnest(map_entries(attributes)) as entry
    from all_log_records
),
named as (
    select session_id
    from runs
    union all
    select trim(entry.value::varchar, '"') as session_id
    from attributed
    where entry.key in (select key from session_keys)
)
select distinct session_id
from named
where session_id in (select unnest($sessions::varchar[]))
