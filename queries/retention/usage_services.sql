-- The services with the most spans; NULL = no service.name.
select
    service_name,
    count(distinct trace_id) as traces,
    count(*) as spans
from spans
group by service_name
order by spans desc, service_name
limit $limit
