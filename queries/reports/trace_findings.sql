-- What is wrong or doubtful with the trace of a run.
select
    kind,
    span_id,
    detail
from findings
where run_id = $run_id or (run_id is null and trace_id = $trace_id)
order by kind, span_id nulls first
