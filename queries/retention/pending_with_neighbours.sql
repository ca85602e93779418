-- Traces that wait to be derived, and those that share a run with one of them.
with recursive reachable as (
    select trace_id
    from pending_traces
    union
    select trace_edges.other_trace_id as trace_id
    from reachable
    inner join trace_edges using (trace_id)
)
select trace_id
from reachable
