-- Traces that stay and share a run with one of `purged_traces`.
create or replace temp table shared_traces as
with recursive reachable as (
    select trace_id
    from purged_traces
    union
    select trace_edges.other_trace_id as trace_id
    from reachable
    inner join trace_edges using (trace_id)
)
select trace_id
from reachable
anti join purged_traces using (trace_id)
