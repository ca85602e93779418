-- What is wrong or doubtful with the traces, by kind, with the run to look at first, or the trace where no run has it.
select
    kind,
    count(*) as n,
    count(distinct trace_id) as traces,
    min(run_id) as example_run_id,
    arg_min(trace_id, (coalesce(run_id, '~'), trace_id)) as example_trace_id
from findings
group by kind
order by n desc, kind
