-- When each trace of the database was last heard of: the end of its last span or log record, or when that arrived if it has no time or
-- one after its arrival, as an emitter with a wrong clock writes. `day` is the day its first span or log record began.
create or replace temp table last_seen as
with moments as (
    select
        trace_id,
        1 as spans,
        0 as log_records,
        least(coalesce(end_time, start_time, received_at::timestamp_ns), received_at::timestamp_ns) as last_at,
        least(coalesce(start_time, received_at::timestamp_ns), received_at::timestamp_ns) as first_at
    from spans
    union all
    select
        trace_id,
        0 as spans,
        1 as log_records,
        least(coalesce(time, observed_time, received_at::timestamp_ns), received_at::timestamp_ns) as last_at,
        least(coalesce(time, observed_time, received_at::timestamp_ns), received_at::timestamp_ns) as first_at
    from log_records
    where trace_id is not null
)
select
    trace_id,
    sum(spans)::bigint as spans,
    sum(log_records)::bigint as log_records,
    max(last_at) as last_at,
    min(first_at)::date as day
from moments
group by trace_id
