-- How many spans each trace has whose id begins with `$prefix`: tells a trace without any agent run from an id that is unknown.
select
    trace_id,
    count(*) as spans,
    any_value(service_name) as service_name,
    arg_min(name, start_time_unix_nano) as first_span_name
from spans
where starts_with(trace_id, $prefix)
group by trace_id
order by trace_id
limit $limit
