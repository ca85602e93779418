-- Traces of the sessions `$sessions`: those of their runs, any other trace of which a span or log record names the session in an
-- attribute of `attribute_map`, and those that share a run with one of these. MLflow writes the name as JSON, in quotes.
with recursive session_keys as (
    select distinct key
    from attribute_map
    where column_name in ('session_id', 'conversation_id')
        and coalesce(path, '$') = '$'
),
attributed as (
    select trace_id, unnest(map_entries(attributes)) as entry
    from all_spans
    union all
    select trace_id, unnest(map_entries(attributes)) as entry
    from all_log_records
    where trace_id is not null
),
reached as (
    select trace_id
    from runs
    where session_id in (select unnest($sessions::varchar[]))
    union
    select trace_id
    from attributed
    where entry.key in (select key from session_keys)
        and trim(entry.value::varchar, '"') in (select unnest($sessions::varchar[]))
    union
    select trace_edges.other_trace_id as trace_id
    from reached
    inner join trace_edges using (trace_id)
)
select trace_id
from reached
