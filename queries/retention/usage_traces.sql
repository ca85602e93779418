-- The traces with the most spans.
select
    trace_id,
    count(*) as spans,
    any_value(service_name) as service_name
from spans
group by trace_id
order by spans desc, trace_id
limit $limit
