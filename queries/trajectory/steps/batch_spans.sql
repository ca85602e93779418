-- The spans of the traces in hand, numbered. `s` is a small integer that stands for (trace_id, span_id) in every later step;
-- the numbering depends on the spans alone, so rows come out the same whatever the order of arrival. `place` is the row of `spans`.
create or replace temp table batch_spans as
with numbered as (
    select
        (row_number() over (order by spans.trace_id, start_time_unix_nano, span_id))::integer as s,
        spans.rowid as place,
        spans.trace_id,
        batch_traces.group_id,
        span_id,
        parent_span_id,
        name,
        kind,
        flags,
        start_time_unix_nano as start_ns,
        end_time_unix_nano as end_ns,
        start_time,
        end_time,
        duration_ns,
        status_code,
        status_message,
        service_name,
        resource_id,
        lower(coalesce(scope_name, '')) as scope_name,
        coalesce(dropped_attributes_count, 0) as dropped_attributes_count
    from raw_spans as spans
    inner join batch_traces on batch_traces.trace_id = spans.trace_id
)
select
    child.s,
    parent.s as parent,
    child.* exclude (s)
from numbered as child
left join numbered as parent
    on parent.trace_id = child.trace_id
    and parent.span_id = child.parent_span_id;
