-- Traces that have been quiet since `$before` and may leave the database. Traces of one run leave together: one that a young trace, or one
-- that waits to be derived, can be reached from stays with it.
create or replace temp table old_traces as
with recursive staying as (
    select trace_id
    from last_seen
    where last_at >= $before::timestamp_ns
    union
    select trace_id
    from pending_traces
    union
    select trace_edges.other_trace_id as trace_id
    from staying
    inner join trace_edges using (trace_id)
)
select last_seen.*
from last_seen
anti join staying using (trace_id)
