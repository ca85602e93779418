-- Traces that have been quiet since `$before`, archived ones included. Needs `last_seen`.
select trace_id
from last_seen
where last_at < $before::timestamp_ns
union
select trace_id
from archived_traces
where last_at < $before::timestamp_ns
