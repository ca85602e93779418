-- Log records of no trace that name one of the sessions `$sessions` in an attribute of `attribute_map`.
select distinct log_record_id
from (
    select log_record_id, unnest(map_entries(attributes)) as entry
    from log_records
    where trace_id is null
) as attributed
where entry.key in (
        select key
        from attribute_map
        where column_name in ('session_id', 'conversation_id')
            and coalesce(path, '$') = '$'
    )
    and trim(entry.value::varchar, '"') in (select unnest($sessions::varchar[]))
