-- What is wrong or doubtful with the traces, by kind, with the run to look at first.
select
    kind,
    count(*) as n,
    count(distinct trace_id) as traces,
    min(run_id) as example_run_id
from findings
group by kind
order by n desc, kind
