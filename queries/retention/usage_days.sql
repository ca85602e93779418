-- Traces and spans by the day on which spans began, or arrived where they say no time; archived ones by the day of their trace.
with live as (
    select
        coalesce(start_time, received_at::timestamp_ns)::date as day,
        count(distinct trace_id) as traces,
        count(*) as spans,
        0 as archived_spans
    from spanscore.main.spans
    group by 1
),
archived as (
    select
        archive_parts.day,
        count(*) as traces,
        sum(archived_traces.spans)::bigint as spans,
        sum(archived_traces.spans)::bigint as archived_spans
    from archived_traces
    inner join archive_parts using (part)
    group by archive_parts.day
)
select
    day,
    sum(traces)::bigint as traces,
    sum(spans)::bigint as spans,
    sum(archived_spans)::bigint as archived_spans
from (from live union all from archived)
group by day
order by day
