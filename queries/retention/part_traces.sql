-- The traces in the files of one part, when each was last heard of, and whether its rows are somewhere else already: in the
-- database, to which it has returned, or in a newer part.
create or replace temp table part_traces as
with moments as (
    select
        trace_id,
        1 as spans,
        0 as log_records,
        least(coalesce(end_time, start_time, received_at::timestamp_ns), received_at::timestamp_ns) as last_at
    from part_spans
    union all
    select
        trace_id,
        0 as spans,
        1 as log_records,
        least(coalesce(time, observed_time, received_at::timestamp_ns), received_at::timestamp_ns) as last_at
    from part_log_records
)
select
    trace_id,
    sum(spans)::bigint as spans,
    sum(log_records)::bigint as log_records,
    max(last_at) as last_at,
    trace_id in (
        select trace_id from spans
        union all select trace_id from log_records where trace_id is not null
        union all select trace_id from archived_traces
    ) as is_elsewhere
from moments
group by trace_id;
